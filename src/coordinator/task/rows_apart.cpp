#include "coordinator/task/rows_apart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace kernelpro {
namespace {

// A part of the reach, and its value at every observation.
struct Part {
  std::string text;
  std::vector<std::int64_t> values;
};

std::vector<std::int64_t> times(const std::vector<std::int64_t>& a,
                                const std::vector<std::int64_t>& b) {
  std::vector<std::int64_t> out(a.size());
  std::ranges::transform(a, b, out.begin(), [](std::int64_t x, std::int64_t y) { return x * y; });
  return out;
}

class RowFinder {
 public:
  explicit RowFinder(const std::vector<Reach>& reaches) {
    for (const auto& [name, value] : reaches[0].axes) {
      Part axis{name, {}};
      for (const Reach& reach : reaches) {
        axis.values.push_back(reach.axes.at(name));
      }
      axes_.push_back(std::move(axis));
    }
    for (const Reach& reach : reaches) {
      whole_.push_back(reach.elements);
    }
    add_lengths();
    add_counts();
  }

  [[nodiscard]] std::optional<std::string> run() const {
    if (auto rows = rows_in(whole_)) {
      return rows;
    }
    for (const Part& slices : axes_) {
      for (const Part& distance : axes_) {
        if (slices.text != distance.text) {
          const auto rest = behind(whole_, slices, distance);
          const auto rows = rest ? rows_in(*rest) : std::nullopt;
          if (rows && rows->find("*" + distance.text + " ") == std::string::npos) {
            return fmt::format("({} - 1)*{} + {}", slices.text, distance.text, *rows);
          }
        }
      }
    }
    return {};
  }

 private:
  void add_lengths() {
    lengths_ = axes_;
    lengths_.push_back({"1", std::vector<std::int64_t>(whole_.size(), 1)});
    for (const std::int64_t several : {2, 3, 4}) {
      const std::vector<std::int64_t> factor(whole_.size(), several);
      for (const Part& axis : axes_) {
        lengths_.push_back({fmt::format("{}*{}", several, axis.text), times(axis.values, factor)});
      }
    }
    for (const Part& pair : pairs()) {
      lengths_.push_back(pair);
    }
  }

  void add_counts() {
    counts_ = axes_;
    for (const Part& pair : pairs()) {
      counts_.push_back(pair);
    }
  }

  [[nodiscard]] std::vector<Part> pairs() const {
    std::vector<Part> out;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      for (std::size_t k = i + 1; k < axes_.size(); ++k) {
        out.push_back(
            {axes_[i].text + "*" + axes_[k].text, times(axes_[i].values, axes_[k].values)});
      }
    }
    return out;
  }

  // What is left behind all rows but the last; nothing where that would be less than one element.
  static std::optional<std::vector<std::int64_t>> behind(const std::vector<std::int64_t>& whole,
                                                         const Part& count, const Part& distance) {
    std::vector<std::int64_t> rest(whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      rest[i] = whole[i] - (count.values[i] - 1) * distance.values[i];
      if (rest[i] < 1) {
        return {};
      }
    }
    return rest;
  }

  [[nodiscard]] std::optional<std::string> rows_in(const std::vector<std::int64_t>& whole) const {
    for (const Part& count : counts_) {
      for (const Part& distance : axes_) {
        const auto rest = behind(whole, count, distance);
        if (!rest) {
          continue;
        }
        const auto length = std::ranges::find(lengths_, *rest, &Part::values);
        if (length != lengths_.end() && length->text != distance.text) {
          return fmt::format("({} - 1)*{} + {}", count.text, distance.text, length->text);
        }
      }
    }
    return {};
  }

  std::vector<std::int64_t> whole_;
  std::vector<Part> axes_;
  std::vector<Part> lengths_;  // of a row
  std::vector<Part> counts_;   // of rows
};

}  // namespace

std::optional<std::string> rows_apart(const std::vector<Reach>& reaches) {
  return reaches.empty() ? std::nullopt : RowFinder(reaches).run();
}

}  // namespace kernelpro
