// kp:options -O3 target openmp
// Prepares the matrix as slices of eight rows of similar length, entries interleaved: eight sums
// run side by side, and the loop ends once for eight rows instead of once for each.
#include <algorithm>
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

constexpr int64_t height = 8;

struct Sizes {
  int64_t rows = 0;
  int64_t slices = 0;
  int64_t entries = 0;  // padded; the most that any matrix of these shapes can need
};

// Slices hold rows in order of falling length, so a slice is no longer than the shortest row of the
// one before it: padding never exceeds `height` times the longest row, which has no more entries
// than there are columns.
Sizes sizes_of(const kp_context* context) {
  const int64_t rows = context->axes[0];
  const int64_t longest = std::min(context->axes[1], context->axes[3]);
  return {rows, (rows + height - 1) / height, context->axes[3] + height * longest};
}

// The parts of the prepared state, in order of alignment.
struct Sliced {
  int64_t* start;  // of each slice among the entries, and the end
  int32_t* row;    // which row each lane holds; -1 is none
  int32_t* column;
  float* value;
};

Sliced view(const Sizes& sizes, void* state) {
  auto* start = static_cast<int64_t*>(state);
  auto* row = reinterpret_cast<int32_t*>(start + sizes.slices + 1);
  auto* column = row + sizes.slices * height;
  return {start, row, column, reinterpret_cast<float*>(column + sizes.entries)};
}

int64_t length_of(const int32_t* row_ptr, int32_t row) {
  return row < 0 ? 0 : row_ptr[row + 1] - row_ptr[row];
}

// Fills one slice from its rows, the longest of which is in lane 0. Padding repeats lane 0's
// column, which is read at that step anyway, with the value 0.
void fill_slice(int64_t length, const int32_t* row, const int32_t* row_ptr, const int32_t* columns,
                const float* values, int32_t* column, float* value) {
  for (int64_t lane = 0; lane < height; ++lane) {
    const int64_t own = length_of(row_ptr, row[lane]);
    for (int64_t step = 0; step < length; ++step) {
      const int64_t at = step * height + lane;
      const bool real = step < own;
      column[at] = columns[row_ptr[row[real ? lane : 0]] + step];
      value[at] = real ? values[row_ptr[row[lane]] + step] : 0.0F;
    }
  }
}

void multiply_slice(int64_t length, const int32_t* row, const int32_t* column, const float* value,
                    const float* x, float* y) {
  float sum[height] = {};
  for (int64_t at = 0; at < length * height; at += height) {
    for (int64_t lane = 0; lane < height; ++lane) {
      sum[lane] += value[at + lane] * x[column[at + lane]];
    }
  }
  for (int64_t lane = 0; lane < height; ++lane) {
    if (row[lane] >= 0) {
      y[row[lane]] = sum[lane];
    }
  }
}

}  // namespace

size_t kp_state(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  const Sizes sizes = sizes_of(context);
  const int64_t bytes = (sizes.slices + 1) * 8 + sizes.slices * height * 4 + sizes.entries * 8;
  return static_cast<size_t>(bytes);
}

int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 5 || context->state_bytes < kp_state(context, tensors, count)) {
    return 1;
  }
  const Sizes sizes = sizes_of(context);
  const Sliced sliced = view(sizes, context->state);
  const auto* row_ptr = static_cast<const int32_t*>(tensors[0].data);
  const auto* columns = static_cast<const int32_t*>(tensors[1].data);
  const auto* values = static_cast<const float*>(tensors[2].data);
  std::fill_n(sliced.row, sizes.slices * height, -1);
  for (int64_t i = 0; i < sizes.rows; ++i) {
    sliced.row[i] = static_cast<int32_t>(i);
  }
  std::sort(sliced.row, sliced.row + sizes.rows, [&](int32_t a, int32_t b) {
    const int64_t first = length_of(row_ptr, a);
    const int64_t second = length_of(row_ptr, b);
    return first == second ? a < b : first > second;
  });
  int64_t at = 0;
  for (int64_t s = 0; s < sizes.slices; ++s) {
    const int32_t* row = sliced.row + s * height;
    const int64_t length = length_of(row_ptr, row[0]);
    sliced.start[s] = at;
    if (at + length * height > sizes.entries) {
      return 2;
    }
    fill_slice(length, row, row_ptr, columns, values, sliced.column + at, sliced.value + at);
    at += length * height;
  }
  sliced.start[sizes.slices] = at;
  return 0;
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 5 || context->state == nullptr) {
    return 1;
  }
  const Sizes sizes = sizes_of(context);
  const Sliced sliced = view(sizes, context->state);
  const auto* x = static_cast<const float*>(tensors[3].data);
  auto* y = static_cast<float*>(tensors[4].data);
#pragma omp parallel for schedule(dynamic, 64) num_threads(context->threads)
  for (int64_t s = 0; s < sizes.slices; ++s) {
    const int64_t at = sliced.start[s];
    multiply_slice((sliced.start[s + 1] - at) / height, sliced.row + s * height, sliced.column + at,
                   sliced.value + at, x, y);
  }
  return 0;
}
