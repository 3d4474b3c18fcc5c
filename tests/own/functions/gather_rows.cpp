#include <cstdint>

// Embedding lookup.
void lookup(const std::int64_t* ids, const float* table, float* out, int count, int dim) {
  for (int i = 0; i < count; ++i) {
    for (int d = 0; d < dim; ++d) {
      out[i * dim + d] = table[ids[i] * dim + d];
    }
  }
}
