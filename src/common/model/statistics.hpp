// Small statistics that worker and coordinator share. Values must not be NaN.
#pragma once

#include <vector>

namespace kernelpro {

[[nodiscard]] double median(std::vector<double> values);  // 0 when empty
// Linear interpolation between order statistics; `q` in [0, 1]. 0 when empty.
[[nodiscard]] double quantile(std::vector<double> values, double q);

// Of positive values; 0 when empty.
[[nodiscard]] double geometric_mean(const std::vector<double>& values);

// The same of what `value` gives for each entry of `list`.
template <typename List, typename Value>
[[nodiscard]] double geometric_mean(const List& list, Value value) {
  std::vector<double> values;
  values.reserve(list.size());
  for (const auto& entry : list) {
    values.push_back(value(entry));
  }
  return geometric_mean(values);
}

}  // namespace kernelpro
