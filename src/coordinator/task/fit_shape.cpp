#include "coordinator/task/fit_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <utility>

#include "coordinator/task/rows_apart.hpp"

namespace kernelpro {
namespace {

// One extent: its text and its value at every observation.
struct Factor {
  std::string text;
  std::vector<std::int64_t> values;
  int cost = 0;  // plain axes are cheapest
};

class Fitter {
 public:
  Fitter(std::vector<Reach> reaches, Closeness how_close)
      : reaches_(std::move(reaches)), how_close_(how_close) {
    for (const auto& [name, value] : reaches_[0].axes) {
      axes_.push_back(name);
    }
    add_factors();
  }

  std::optional<std::vector<std::string>> fit() {
    std::vector<std::int64_t> rest;
    rest.reserve(reaches_.size());
    for (const Reach& reach : reaches_) {
      rest.push_back(reach.elements);
    }
    if (std::ranges::all_of(rest, [&](std::int64_t e) { return e == rest[0]; })) {
      return std::vector<std::string>{std::to_string(rest[0])};
    }
    search(rest, 0, 0);
    if (!best_.empty()) {
      return best_;
    }
    if (const auto rows = rows_apart(reaches_)) {
      return std::vector<std::string>{*rows};
    }
    if (auto near = how_close_ == Closeness::near ? nearest_product() : std::nullopt) {
      return near;
    }
    return polynomial();
  }

 private:
  using Value = std::function<std::int64_t(const Axes&)>;

  void add(std::string text, int cost, const Value& value) {
    Factor factor{std::move(text), {}, cost};
    for (const Reach& reach : reaches_) {
      factor.values.push_back(value(reach.axes));
    }
    const bool positive = std::ranges::all_of(factor.values, [](std::int64_t v) { return v > 0; });
    // What is 1 everywhere divides everything, as often as one likes.
    const bool tells = std::ranges::any_of(factor.values, [](std::int64_t v) { return v != 1; });
    if (positive && tells) {
      factors_.push_back(std::move(factor));
    }
  }

  void add_factors() {
    for (const std::string& a : axes_) {
      add(a, 1, [a](const Axes& at) { return at.at(a); });
    }
    for (std::int64_t number = 2; number <= 16; ++number) {
      add(std::to_string(number), 3, [number](const Axes&) { return number; });
    }
    for (const std::string& a : axes_) {
      for (const std::int64_t by : {1, 2, 3, 4}) {
        add(fmt::format("{} + {}", a, by), 3, [=](const Axes& at) { return at.at(a) + by; });
        add(fmt::format("{} - {}", a, by), 3, [=](const Axes& at) { return at.at(a) - by; });
        add(fmt::format("2*{} + {}", a, by), 5, [=](const Axes& at) { return 2 * at.at(a) + by; });
        add(fmt::format("2*{} - {}", a, by), 5, [=](const Axes& at) { return 2 * at.at(a) - by; });
        add(fmt::format("({} + {})/2", a, by), 5,
            [=](const Axes& at) { return (at.at(a) + by) / 2; });
        add(fmt::format("({} - {})/2 + 1", a, by), 5,
            [=](const Axes& at) { return (at.at(a) - by) / 2 + 1; });
      }
      for (const std::int64_t by : {2, 3, 4, 8, 16, 32, 64, 128, 256, 512}) {
        add(fmt::format("{}/{}", a, by), 4, [=](const Axes& at) { return at.at(a) / by; });
        add(fmt::format("({} + {})/{}", a, by - 1, by), 5,
            [=](const Axes& at) { return (at.at(a) + by - 1) / by; });
      }
      add_pairs(a);
    }
  }

  void add_pairs(const std::string& a) {
    for (const std::string& b : axes_) {
      if (a == b) {
        continue;
      }
      for (const std::int64_t by : {-2, -1, 0, 1, 2}) {
        const std::string end =
            by == 0 ? "" : fmt::format(" {} {}", by < 0 ? "-" : "+", std::abs(by));
        add(fmt::format("{} - {}{}", a, b, end), 4 + (by == 0 || by == 1 ? 0 : 1),
            [=](const Axes& at) { return at.at(a) - at.at(b) + by; });
        if (a < b) {
          add(fmt::format("{} + {}{}", a, b, end), 4 + (by == 0 || by == -1 ? 0 : 1),
              [=](const Axes& at) { return at.at(a) + at.at(b) + by; });
        }
      }
      add(fmt::format("{} + 2*{}", a, b), 5,
          [=](const Axes& at) { return at.at(a) + 2 * at.at(b); });
      add(fmt::format("2*{} + 1", b), 5, [=](const Axes& at) { return 2 * at.at(b) + 1; });
      add(fmt::format("{}/{}", a, b), 5, [=](const Axes& at) { return at.at(a) / at.at(b); });
      add(fmt::format("({0} + {1} - 1)/{1}", a, b), 6,
          [=](const Axes& at) { return (at.at(a) + at.at(b) - 1) / at.at(b); });
      for (const std::string& c : axes_) {
        if (c != a && c != b) {
          add(fmt::format("({} - {})/{} + 1", a, b, c), 6,
              [=](const Axes& at) { return (at.at(a) - at.at(b)) / at.at(c) + 1; });
        }
      }
    }
  }

  // Takes out one factor after the other, in the order of the list. Where many divide each other,
  // as at small sizes, it ends with what was found by then.
  void search(const std::vector<std::int64_t>& rest, std::size_t from, int cost) {
    if (std::ranges::all_of(rest, [](std::int64_t e) { return e == 1; })) {
      if (!chosen_.empty() && (best_.empty() || cost < best_cost_)) {
        best_ = chosen_;
        best_cost_ = cost;
      }
      return;
    }
    if (chosen_.size() == 6) {
      return;
    }
    for (std::size_t i = from; i < factors_.size(); ++i) {
      const Factor& factor = factors_[i];
      if (++tried_ > most_tried) {
        return;
      }
      if (!best_.empty() && cost + factor.cost >= best_cost_) {
        continue;
      }
      std::vector<std::int64_t> quotient(rest.size());
      bool divides = true;
      for (std::size_t k = 0; divides && k < rest.size(); ++k) {
        divides = rest[k] % factor.values[k] == 0;
        quotient[k] = rest[k] / factor.values[k];
      }
      if (divides) {
        chosen_.push_back(factor.text);
        search(quotient, i, cost + factor.cost);
        chosen_.pop_back();
      }
    }
  }

  // Every product of up to four axes, each as often as it likes.
  void products(std::vector<std::string>& chosen, std::size_t from,
                const std::function<void(const std::vector<std::string>&)>& take) const {
    if (!chosen.empty()) {
      take(chosen);
    }
    for (std::size_t i = from; i < axes_.size() && chosen.size() < 4; ++i) {
      chosen.push_back(axes_[i]);
      products(chosen, i, take);
      chosen.pop_back();
    }
  }

  static std::int64_t product_at(const std::vector<std::string>& names, const Axes& axes) {
    std::int64_t value = 1;
    for (const std::string& name : names) {
      value *= axes.at(name);
    }
    return value;
  }

  [[nodiscard]] std::optional<std::vector<std::string>> nearest_product() const {
    std::optional<std::vector<std::string>> best;
    std::int64_t least_gap = 0;
    std::vector<std::string> chosen;
    products(chosen, 0, [&](const std::vector<std::string>& names) {
      std::int64_t gap = 0;
      for (const Reach& reach : reaches_) {
        const std::int64_t value = product_at(names, reach.axes);
        std::int64_t shortest = value;
        for (const std::string& name : names) {
          shortest = std::min(shortest, reach.axes.at(name));
        }
        if (reach.elements > value || value - reach.elements > 4 * (value / shortest)) {
          return;
        }
        gap += value - reach.elements;
      }
      if (!best || gap < least_gap) {
        best = names;
        least_gap = gap;
      }
    });
    return best;
  }

  // Coefficients of 1 and every product of up to three axes by elimination; they must be small
  // whole numbers that fit every observation.
  [[nodiscard]] std::optional<std::vector<std::string>> polynomial() const {
    std::vector<std::vector<std::string>> terms = {{}};
    std::vector<std::string> chosen;
    products(chosen, 0, [&](const std::vector<std::string>& names) {
      const bool repeats = std::ranges::adjacent_find(names) != names.end();
      if (names.size() <= 3 && (!repeats || axes_.size() <= 1)) {
        terms.push_back(names);
      }
    });
    const std::size_t count = terms.size();
    if (count > reaches_.size()) {
      return {};
    }
    const auto solution = solve(terms);
    if (!solution) {
      return {};
    }
    std::string text;
    for (std::size_t i = count; i-- > 0;) {
      const auto factor = (*solution)[i];
      if (factor == 0) {
        continue;
      }
      std::vector<std::string> parts = terms[i];
      if (std::abs(factor) != 1 || parts.empty()) {
        parts.insert(parts.begin(), std::to_string(std::abs(factor)));
      }
      const std::string term = fmt::format("{}", fmt::join(parts, "*"));
      text += text.empty() ? (factor < 0 ? "-" : "") + term
                           : fmt::format(" {} {}", factor < 0 ? "-" : "+", term);
    }
    return text.empty() ? std::nullopt : std::optional(std::vector<std::string>{text});
  }

  [[nodiscard]] std::optional<std::vector<std::int64_t>> solve(
      const std::vector<std::vector<std::string>>& terms) const {
    const std::size_t count = terms.size();
    // Normal equations: there are more observations than terms.
    std::vector<std::vector<long double>> matrix(count, std::vector<long double>(count + 1, 0));
    for (const Reach& reach : reaches_) {
      std::vector<long double> row;
      row.reserve(count);
      for (const auto& term : terms) {
        row.push_back(static_cast<long double>(product_at(term, reach.axes)));
      }
      for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t k = 0; k < count; ++k) {
          matrix[i][k] += row[i] * row[k];
        }
        matrix[i][count] += row[i] * static_cast<long double>(reach.elements);
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t pivot = i;
      for (std::size_t k = i; k < count; ++k) {
        pivot = std::abs(matrix[k][i]) > std::abs(matrix[pivot][i]) ? k : pivot;
      }
      std::swap(matrix[i], matrix[pivot]);
      if (std::abs(matrix[i][i]) < 1e-9L) {
        return {};
      }
      for (std::size_t k = 0; k < count; ++k) {
        const long double scale = k == i ? 0 : matrix[k][i] / matrix[i][i];
        for (std::size_t j = i; scale != 0 && j <= count; ++j) {
          matrix[k][j] -= scale * matrix[i][j];
        }
      }
    }
    std::vector<std::int64_t> solution;
    for (std::size_t i = 0; i < count; ++i) {
      solution.push_back(std::llround(matrix[i][count] / matrix[i][i]));
      if (std::abs(solution.back()) > 16) {
        return {};
      }
    }
    for (const Reach& reach : reaches_) {
      std::int64_t value = 0;
      for (std::size_t i = 0; i < count; ++i) {
        value += solution[i] * product_at(terms[i], reach.axes);
      }
      if (value != reach.elements) {
        return {};
      }
    }
    return solution;
  }

  std::vector<Reach> reaches_;
  Closeness how_close_;
  std::vector<std::string> axes_;
  std::vector<Factor> factors_;
  std::vector<std::string> chosen_;
  std::vector<std::string> best_;
  int best_cost_ = 0;
  std::int64_t tried_ = 0;
  static constexpr std::int64_t most_tried = 4'000'000;
};

}  // namespace

std::optional<std::vector<std::string>> fit_shape(const std::vector<Reach>& reaches,
                                                  Closeness how_close) {
  std::vector<Reach> seen;
  std::ranges::copy_if(reaches, std::back_inserter(seen),
                       [](const Reach& reach) { return reach.elements > 0; });
  return seen.empty() ? std::nullopt : Fitter(std::move(seen), how_close).fit();
}

std::optional<std::string> cover_shape(const std::vector<Reach>& reaches) {
  std::vector<std::string> axes;
  for (const auto& [name, value] : reaches[0].axes) {
    axes.push_back(name);
  }
  std::optional<std::string> best;
  double least = 0;
  for (std::size_t set = 1; set < (std::size_t{1} << std::min<std::size_t>(axes.size(), 8));
       ++set) {
    for (const std::int64_t times : {1, 2, 3, 4}) {
      std::string text = times > 1 ? std::to_string(times) : "";
      for (std::size_t i = 0; i < axes.size(); ++i) {
        if ((set >> i & 1U) != 0) {
          text += (text.empty() ? "" : "*") + axes[i];
        }
      }
      double sum = 0;
      const auto formula = Formula::parse(text);
      const bool covers = std::ranges::all_of(reaches, [&](const Reach& reach) {
        const auto value =
            formula.ok() ? formula->evaluate_size(reach.axes) : Result<std::int64_t>(0);
        sum += value.ok() ? static_cast<double>(*value) : 0;
        return value.ok() && *value >= reach.elements;
      });
      if (covers && (!best || sum < least)) {
        best = text;
        least = sum;
      }
    }
  }
  return best;
}

}  // namespace kernelpro
