// Lists with the best in front.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace kernelpro {

// Sorts by falling merit; equal ones keep their order.
template <typename T, typename Merit>
void best_first(std::vector<T>& list, const Merit& merit) {
  std::vector<std::pair<int, std::size_t>> order;
  order.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    order.emplace_back(-merit(list[i]), i);
  }
  std::sort(order.begin(), order.end());
  std::vector<T> sorted;
  sorted.reserve(list.size());
  for (const auto& [rank, at] : order) {
    sorted.push_back(std::move(list[at]));
  }
  list = std::move(sorted);
}

}  // namespace kernelpro
