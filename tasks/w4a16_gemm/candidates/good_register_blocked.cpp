// kp:options -O3 target
// Single-threaded: the weights are prepared, still in 4 bits, so that those of eight outputs lie
// side by side. A tile of four rows by eight outputs stays in registers: each weight is unpacked
// once for four rows, and the scale is applied once for each group of 32.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "kernelpro/candidate.h"

namespace {

constexpr int64_t group = 32;
constexpr int64_t rows = 4;
constexpr int64_t outputs = 8;
constexpr int64_t lanes = 4;
constexpr int64_t vectors = outputs / lanes;
using Vector = float __attribute__((vector_size(lanes * sizeof(float))));
using Whole = int32_t __attribute__((vector_size(lanes * sizeof(int32_t))));
using Bytes = uint8_t __attribute__((vector_size(lanes)));

// Shifted into the place of a float, a half is too small by 2^112, whether normal or subnormal.
inline float half_to_float(uint16_t half) {
  const uint32_t sign = (half & 0x8000U) << 16;
  const float magnitude = std::bit_cast<float>((half & 0x7fffU) << 13) * 0x1p112F;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

int64_t blocks_of(int64_t n) {
  return (n + outputs - 1) / outputs;
}

// The prepared state: for each block of outputs its scales, group by group, then its packed
// weights, pair by pair along k; the eight outputs are innermost.
struct Prepared {
  float* scales;
  uint8_t* weights;
};

Prepared view(int64_t n, int64_t groups, void* state) {
  auto* scales = static_cast<float*>(state);
  return {scales, reinterpret_cast<uint8_t*>(scales + blocks_of(n) * groups * outputs)};
}

struct Weights {
  Vector even[vectors];
  Vector odd[vectors];
};

Weights unpack(const uint8_t* pair) {
  Weights result;
  for (int64_t v = 0; v < vectors; ++v) {
    Bytes bytes;
    std::memcpy(&bytes, pair + v * lanes, sizeof bytes);
    const Whole both = __builtin_convertvector(bytes, Whole);
    result.even[v] = __builtin_convertvector((both & 15) - 8, Vector);
    result.odd[v] = __builtin_convertvector((both >> 4) - 8, Vector);
  }
  return result;
}

// Rows past `used` repeat the last one.
void compute_tile(int64_t used, int64_t k, const float* x, const float* scales,
                  const uint8_t* weights, float (*sums)[outputs]) {
  const float* row_of[rows];
  for (int64_t r = 0; r < rows; ++r) {
    row_of[r] = x + std::min(r, used - 1) * k;
  }
  Vector total[rows][vectors] = {};
  for (int64_t first = 0; first < k; first += group) {
    Vector sum[rows][vectors] = {};
    for (int64_t p = first; p < first + group; p += 2) {
      const Weights pair = unpack(weights + p / 2 * outputs);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t v = 0; v < vectors; ++v) {
          sum[r][v] += row_of[r][p] * pair.even[v] + row_of[r][p + 1] * pair.odd[v];
        }
      }
    }
    Vector scale[vectors];
    std::memcpy(scale, scales + first / group * outputs, sizeof scale);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t v = 0; v < vectors; ++v) {
        total[r][v] += sum[r][v] * scale[v];
      }
    }
  }
  std::memcpy(sums, total, sizeof total);
}

}  // namespace

size_t kp_state(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  const int64_t padded = blocks_of(context->axes[1]) * outputs;
  const int64_t bytes = padded * context->axes[2] * 4 + padded * context->axes[3] / 2;
  return static_cast<size_t>(bytes);
}

// Outputs past the last have scale 0.
int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 4 || context->state_bytes < kp_state(context, tensors, count)) {
    return 1;
  }
  const int64_t n = context->axes[1];
  const int64_t groups = context->axes[2];
  const int64_t half = context->axes[3] / 2;
  const auto* packed = static_cast<const uint8_t*>(tensors[1].data);
  const auto* scales = static_cast<const uint16_t*>(tensors[2].data);
  const Prepared prepared = view(n, groups, context->state);
  for (int64_t j = 0; j < blocks_of(n) * outputs; ++j) {
    const int64_t block = j / outputs;
    const int64_t lane = j % outputs;
    for (int64_t g = 0; g < groups; ++g) {
      prepared.scales[(block * groups + g) * outputs + lane] =
          j < n ? half_to_float(scales[j * groups + g]) : 0.0F;
    }
    for (int64_t p = 0; p < half; ++p) {
      prepared.weights[(block * half + p) * outputs + lane] =
          j < n ? packed[j * half + p] : uint8_t{0};
    }
  }
  return 0;
}

size_t kp_workspace(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  return static_cast<size_t>(context->axes[0] * context->axes[3]) * sizeof(float);
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 4 || context->state == nullptr ||
      context->workspace_bytes < kp_workspace(context, tensors, count)) {
    return 1;
  }
  const int64_t m = context->axes[0];
  const int64_t n = context->axes[1];
  const int64_t groups = context->axes[2];
  const int64_t k = context->axes[3];
  const auto* halves = static_cast<const uint16_t*>(tensors[0].data);
  auto* y = static_cast<float*>(tensors[3].data);
  auto* x = static_cast<float*>(context->workspace);
  for (int64_t at = 0; at < m * k; ++at) {
    x[at] = half_to_float(halves[at]);
  }
  const Prepared prepared = view(n, groups, context->state);
  for (int64_t block = 0; block < blocks_of(n); ++block) {
    const int64_t first = block * outputs;
    for (int64_t i = 0; i < m; i += rows) {
      const int64_t used = std::min(rows, m - i);
      float sums[rows][outputs];
      compute_tile(used, k, x + i * k, prepared.scales + first * groups,
                   prepared.weights + first * k / 2, sums);
      for (int64_t r = 0; r < used; ++r) {
        std::copy_n(sums[r], std::min(outputs, n - first), y + (i + r) * n + first);
      }
    }
  }
  return 0;
}
