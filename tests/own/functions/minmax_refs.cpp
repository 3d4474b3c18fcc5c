#include <cstddef>

void minmax(const float* v, std::size_t n, float& low, float& high) {
  low = v[0];
  high = v[0];
  for (std::size_t i = 1; i < n; ++i) {
    if (v[i] < low) low = v[i];
    if (v[i] > high) high = v[i];
  }
}
