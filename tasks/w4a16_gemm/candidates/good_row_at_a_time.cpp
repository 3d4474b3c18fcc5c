// kp:options -O3 target openmp
// The activations are widened once, even and odd ones apart, so that a group of packed weights is
// two plain vectors of 16: no weight is moved. Each row of weights is unpacked once for all rows of
// activations. Rows of weights are shared among the threads.
#include <bit>
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

constexpr int64_t group = 32;
constexpr int64_t pairs = group / 2;

// Shifted into the place of a float, a half is too small by 2^112, whether normal or subnormal.
inline float half_to_float(uint16_t half) {
  const uint32_t sign = (half & 0x8000U) << 16;
  const float magnitude = std::bit_cast<float>((half & 0x7fffU) << 13) * 0x1p112F;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

// Each group of X as its 16 even ones, then its 16 odd ones.
void widen(int64_t elements, const uint16_t* halves, float* x) {
  for (int64_t first = 0; first < elements; first += group) {
    for (int64_t q = 0; q < pairs; ++q) {
      x[first + q] = half_to_float(halves[first + 2 * q]);
      x[first + pairs + q] = half_to_float(halves[first + 2 * q + 1]);
    }
  }
}

void unpack(int64_t groups, const uint8_t* packed, const uint16_t* scales, float* weights) {
  for (int64_t g = 0; g < groups; ++g) {
    const float scale = half_to_float(scales[g]);
    for (int64_t q = 0; q < pairs; ++q) {
      const int both = packed[g * pairs + q];
      weights[g * group + q] = static_cast<float>((both & 15) - 8) * scale;
      weights[g * group + pairs + q] = static_cast<float>((both >> 4) - 8) * scale;
    }
  }
}

float dot(int64_t k, const float* a, const float* b) {
  float sum[group] = {};
  for (int64_t first = 0; first < k; first += group) {
    for (int64_t q = 0; q < group; ++q) {
      sum[q] += a[first + q] * b[first + q];
    }
  }
  float total = 0.0F;
  for (int64_t q = 0; q < group; ++q) {
    total += sum[q];
  }
  return total;
}

}  // namespace

// X widened, and one row of weights for each thread.
size_t kp_workspace(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  return static_cast<size_t>((context->axes[0] + context->threads) * context->axes[3]) *
         sizeof(float);
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 4 || context->workspace_bytes < kp_workspace(context, tensors, count)) {
    return 1;
  }
  const int64_t m = context->axes[0];
  const int64_t n = context->axes[1];
  const int64_t groups = context->axes[2];
  const int64_t k = context->axes[3];
  const auto* packed = static_cast<const uint8_t*>(tensors[1].data);
  const auto* scales = static_cast<const uint16_t*>(tensors[2].data);
  auto* y = static_cast<float*>(tensors[3].data);
  auto* x = static_cast<float*>(context->workspace);
  widen(m * k, static_cast<const uint16_t*>(tensors[0].data), x);
  const int64_t threads = context->threads;
#pragma omp parallel for schedule(static, 1) num_threads(context->threads)
  for (int64_t t = 0; t < threads; ++t) {
    float* weights = x + (m + t) * k;
    for (int64_t j = t * n / threads; j < (t + 1) * n / threads; ++j) {
      unpack(groups, packed + j * k / 2, scales + j * groups, weights);
      for (int64_t i = 0; i < m; ++i) {
        y[i * n + j] = dot(k, x + i * k, weights);
      }
    }
  }
  return 0;
}
