// What a function states of its sizes by assert, as what is supposed of them.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "coordinator/task/asserted_sizes.hpp"
#include "coordinator/task/function_body.hpp"
#include "coordinator/task/learn_trials.hpp"

namespace kernelpro::learn {
namespace {

constexpr std::int64_t no_bound = std::numeric_limits<std::int64_t>::max() / 4;
constexpr std::int64_t most_room = 8;  // between rows, where sizes are checked

std::int64_t least_from(std::int64_t low, std::int64_t step, std::int64_t rest) {
  return low + ((rest - low) % step + step) % step;
}

std::optional<AxisRange> range_of(const AssertedSizes::Bounds& bounds) {
  AxisRange range{least_from(bounds.low, bounds.step, bounds.rest), no_bound, bounds.step};
  if (bounds.high > 0 && bounds.high < range.low) {
    return {};
  }
  range.high = bounds.high > 0 ? range.at_most(bounds.high) : no_bound;
  return range;
}

std::string text_of(const std::string& axis, const AxisRange& range) {
  std::vector<std::string> parts;
  if (range.step > 1 && range.low % range.step == 0) {
    parts.push_back(fmt::format("a multiple of {}", range.step));
  } else if (range.step > 1) {
    parts.push_back(
        fmt::format("{} more than a multiple of {}", range.low % range.step, range.step));
  }
  if (range.low >= std::max<std::int64_t>(2, range.step)) {
    parts.push_back(fmt::format("at least {}", range.low));
  }
  if (range.high < no_bound) {
    parts.push_back(fmt::format("at most {}", range.high));
  }
  return fmt::format("{0} is {1}, as its assert says (--held-out {0}=LOW:HIGH says otherwise)",
                     axis, fmt::join(parts, ", "));
}

// Puts it together: what is supposed of sizes that the user leaves open.
class AssertedSupposition {
 public:
  AssertedSupposition(const Asked& asked, const std::string& source, Learned& learned,
                      std::vector<std::string>& axes)
      : asked_(asked),
        source_(source),
        learned_(learned),
        axes_(axes),
        stated_(asserted_sizes(source, asked.source.function, axes)) {}

  Supposition run() {
    for (const auto& [axis, first] : stated_.equal) {
      take_equal(axis, first);
    }
    for (const auto& [axis, bounds] : stated_.bounds) {
      take_bounds(axis, bounds);
    }
    for (const std::string& axis : stated_.powers_of_two) {
      take_power(axis);
    }
    for (const auto& [axis, other] : stated_.multiple_of) {
      take_multiple(axis, other);
    }
    for (const std::string& axis : std::vector<std::string>(axes_)) {
      take_orders(axis);
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool is_open(const std::string& axis) const {
    const NewTask& request = learned_.request;
    return contains(axes_, axis) && !request.held_out.contains(axis) &&
           !request.derived.contains(axis) && !request.fixed.contains(axis);
  }

  [[nodiscard]] bool has_range(const std::string& axis) const {
    return learned_.bounds.contains(axis);
  }

  // What the user said of it is said of the first.
  void take_equal(const std::string& axis, const std::string& first) {
    NewTask& request = learned_.request;
    if (!contains(axes_, axis) || !contains(axes_, first) || request.derived.contains(axis) ||
        request.fixed.contains(axis)) {
      return;
    }
    if (const auto size = request.sizes.extract(axis)) {
      request.sizes.emplace(first, size.mapped());
    }
    if (const auto range = request.held_out.extract(axis)) {
      request.held_out.emplace(first, range.mapped());
    }
    request.fixed[axis] = first;
    learned_.notes.push_back(fmt::format("{} is {}, as its assert says", axis, first));
    std::erase(axes_, axis);
  }

  // Trials at such sizes; what is timed keeps to them also where the user says what is checked.
  void take_bounds(const std::string& axis, const AssertedSizes::Bounds& bounds) {
    const bool tells = bounds.low > 1 || bounds.step > 1 || bounds.high > 0;
    const auto range = range_of(bounds);
    if (!tells || !range || !contains(axes_, axis) || learned_.request.derived.contains(axis) ||
        learned_.request.fixed.contains(axis)) {
      return;
    }
    learned_.bounds[axis] = *range;
    if (!is_open(axis)) {
      return;
    }
    out_.drawn_from[axis] = trial_sizes(*range, axes_.size());
    out_.stated.insert(axis);
    learned_.notes.push_back(text_of(axis, *range));
  }

  // No range holds powers of two alone: one of them is checked, others are timed.
  void take_power(const std::string& axis) {
    if (!is_open(axis)) {
      return;
    }
    const AxisRange range = has_range(axis) ? learned_.bounds.at(axis) : AxisRange{1, no_bound, 1};
    std::vector<std::int64_t> sizes;
    std::int64_t highest = 0;
    for (std::int64_t size = 1; size <= range.high; size *= 2) {
      highest = size;
      if (size >= range.low && (size >= 4 || range.high < 4) && sizes.size() < 5) {
        sizes.push_back(size);
      }
    }
    if (sizes.empty()) {
      return;
    }
    const std::int64_t checked = sizes.back();
    out_.drawn_from[axis] = std::move(sizes);
    out_.held_out[axis] = {checked, checked, 1};
    out_.stated.insert(axis);
    learned_.bounds.erase(axis);
    if (range.high < no_bound) {
      learned_.bounds[axis] = {1, highest, 1};
    }
    learned_.notes.push_back(fmt::format(
        "{0} is a power of two, as its assert says: {1} is checked (--held-out {0}=LOW:HIGH says "
        "otherwise)",
        axis, checked));
  }

  void take_multiple(const std::string& axis, const std::string& other) {
    if (!is_open(axis) || !contains(axes_, other) || stated_.powers_of_two.contains(axis)) {
      return;
    }
    const AxisRange whole = has_range(axis) ? learned_.bounds.at(axis) : AxisRange{1, no_bound, 1};
    const AxisRange part = has_range(other) ? learned_.bounds.at(other) : AxisRange{1, no_bound, 1};
    const std::string times = axis + "_per_" + other;
    // Where `times` is such a number, so is what it is times of; the product stays below a bound.
    const std::int64_t step = whole.low % whole.step == 0 ? whole.step : 1;
    AxisRange range{least_from(whole.low, step, 0), no_bound, step};
    if (whole.high < no_bound) {
      std::int64_t most = part.low;
      while ((most + part.step) * range.low <= whole.high && most + part.step <= part.high &&
             (most + part.step) * (most + part.step) <= whole.high) {
        most += part.step;
      }
      range.high = range.at_most(whole.high / most);
      learned_.bounds[other] = {part.low, most, part.step};
    }
    out_ = with(out_, multiple_of(axis, other));
    if (has_range(other)) {
      out_.drawn_from[other] = trial_sizes(learned_.bounds.at(other), most_axes);
    }
    if (range.low > 1 || range.high < no_bound) {
      learned_.bounds[times] = range;
      out_.drawn_from[times] = trial_sizes(range, most_axes);
    }
    learned_.bounds.erase(axis);
    out_.drawn_from.erase(axis);
    out_.stated.insert({axis, other});
  }

  // "lda >= k": the distance of rows has room of its own; any other size is drawn beyond that one.
  void take_orders(const std::string& axis) {
    std::vector<SizeOrder> orders;
    for (const SizeOrder& order : stated_.at_least) {
      if (order.axis == axis && !out_.multiple_of.contains(axis) &&
          !stated_.powers_of_two.contains(axis)) {
        orders.push_back(order);
      }
    }
    if (orders.empty() || !contains(axes_, axis)) {
      return;
    }
    if (!is_open(axis) || !take_distance(axis, orders)) {
      learned_.at_least.insert(learned_.at_least.end(), orders.begin(), orders.end());
    }
  }

  bool take_distance(const std::string& axis, const std::vector<SizeOrder>& orders) {
    const auto& sizes = learned_.request.sizes;
    const AxisRange bound = has_range(axis) ? learned_.bounds.at(axis) : AxisRange{1, no_bound, 1};
    std::vector<std::string> rows;
    bool told = true;
    for (const SizeOrder& order : orders) {
      rows.push_back(order.least + (order.more ? " + 1" : ""));
      // What the user times says how much room there is, or is kept as it is.
      told = told && !out_.at_least.contains(order.least) &&
             (!sizes.contains(axis) || sizes.contains(order.least));
    }
    if (!told || bound.low % bound.step != 0 || !steps_by(source_, asked_.source.function, axis)) {
      return false;
    }
    if (bound.low > bound.step) {
      rows.push_back(std::to_string(bound.low));
    }
    std::string row = rows[0];
    for (std::size_t i = 1; i < rows.size(); ++i) {
      row = fmt::format("max({}, {})", row, rows[i]);
    }
    if (bound.high < no_bound) {
      for (const SizeOrder& order : orders) {
        keep_below(order.least, bound.high - most_room * bound.step);
      }
    }
    out_.at_least[axis] = {row, bound.step};
    for (std::int64_t room = 1; room <= most_room; ++room) {
      out_.drawn_from[axis + "_room"].push_back(room);
    }
    out_.stated.insert(axis);
    out_.drawn_from.erase(axis);
    learned_.bounds.erase(axis);
    return true;
  }

  void keep_below(const std::string& axis, std::int64_t high) {
    AxisRange range = has_range(axis) ? learned_.bounds.at(axis) : AxisRange{1, no_bound, 1};
    if (contains(axes_, axis) && high >= range.low && high < range.high) {
      range.high = range.at_most(high);
      learned_.bounds[axis] = range;
      if (is_open(axis)) {
        out_.drawn_from[axis] = trial_sizes(range, axes_.size());
      }
    }
  }

  static constexpr std::size_t most_axes = 5;  // of products, sizes are small

  const Asked& asked_;
  const std::string& source_;
  Learned& learned_;
  std::vector<std::string>& axes_;
  AssertedSizes stated_;
  Supposition out_;
};

}  // namespace

Supposition asserted(const Asked& asked, const std::string& source, Learned& learned,
                     std::vector<std::string>& axes) {
  return AssertedSupposition(asked, source, learned, axes).run();
}

Supposition within_bounds(Supposition supposed, const Learned& learned) {
  for (const auto& [axis, bound] : learned.bounds) {
    const auto drawn = supposed.drawn_from.find(axis);
    if (drawn == supposed.drawn_from.end()) {
      continue;
    }
    std::erase_if(drawn->second, [&bound](std::int64_t size) {
      return size < bound.low || size > bound.high || bound.at_most(size) != size;
    });
    const auto checked = supposed.held_out.find(axis);
    if (drawn->second.empty()) {
      supposed.drawn_from.erase(drawn);
      supposed.held_out.erase(axis);
    } else if (checked != supposed.held_out.end()) {
      AxisRange& range = checked->second;
      range.low = std::ranges::min(drawn->second);
      range.step = std::lcm(range.step, bound.step);
      range.high = range.at_most(std::max(range.low, std::min(range.high, bound.high)));
    }
  }
  return supposed;
}

Supposition with(Supposition first, const Supposition& second) {
  first.drawn_from.insert(second.drawn_from.begin(), second.drawn_from.end());
  first.held_out.insert(second.held_out.begin(), second.held_out.end());
  first.multiple_of.insert(second.multiple_of.begin(), second.multiple_of.end());
  first.at_least.insert(second.at_least.begin(), second.at_least.end());
  first.stated.insert(second.stated.begin(), second.stated.end());
  return first;
}

}  // namespace kernelpro::learn
