#include <cstring>

// Counts of each byte.
void histogram(const unsigned char* data, size_t n, unsigned int* counts) {
  std::memset(counts, 0, 256 * sizeof(unsigned int));
  for (size_t i = 0; i < n; ++i) {
    counts[data[i]]++;
  }
}
