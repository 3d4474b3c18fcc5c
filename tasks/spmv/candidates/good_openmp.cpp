// kp:options -O3 target openmp
// Each thread takes consecutive rows with an equal share of the entries.
#include <algorithm>
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// The first row that starts at or after the `part`-th of `parts` equal shares of the entries.
int64_t first_row(int64_t rows, const int32_t* row_ptr, int64_t part, int64_t parts) {
  const int64_t entry = row_ptr[rows] * part / parts;
  return std::lower_bound(row_ptr, row_ptr + rows, entry) - row_ptr;
}

float row_product(int32_t first, int32_t last, const int32_t* columns, const float* values,
                  const float* x) {
  float sum = 0.0F;
  for (int32_t p = first; p < last; ++p) {
    sum += values[p] * x[columns[p]];
  }
  return sum;
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 5) {
    return 1;
  }
  const int64_t rows = context->axes[0];
  const auto* row_ptr = static_cast<const int32_t*>(tensors[0].data);
  const auto* columns = static_cast<const int32_t*>(tensors[1].data);
  const auto* values = static_cast<const float*>(tensors[2].data);
  const auto* x = static_cast<const float*>(tensors[3].data);
  auto* y = static_cast<float*>(tensors[4].data);
  const int64_t parts = context->threads;
#pragma omp parallel for schedule(static, 1) num_threads(context->threads)
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t last = part + 1 == parts ? rows : first_row(rows, row_ptr, part + 1, parts);
    for (int64_t i = first_row(rows, row_ptr, part, parts); i < last; ++i) {
      y[i] = row_product(row_ptr[i], row_ptr[i + 1], columns, values, x);
    }
  }
  return 0;
}
