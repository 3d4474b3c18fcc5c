// Sorting that keeps the order of equals. std::stable_sort of g++ 12 calls what C++ has deprecated,
// which clang refuses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace kernelpro {

template <typename Value, typename Less>
void sort_keeping_ties(std::vector<Value>& values, const Less& less) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (less(values[a], values[b])) {
      return true;
    }
    return a < b && !less(values[b], values[a]);
  });
  std::vector<Value> sorted;
  sorted.reserve(values.size());
  for (const std::size_t at : order) {
    sorted.push_back(std::move(values[at]));
  }
  values = std::move(sorted);
}

}  // namespace kernelpro
