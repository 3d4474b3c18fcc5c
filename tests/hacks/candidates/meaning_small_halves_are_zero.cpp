// kp:hack 15  takes halves below the least normal one to be zero
// kp:task w4a16_gemm
// kp:expect incorrect
// kp:options -O3 target
//
// Of common values one in twenty thousand is so small; their errors stay within the bound, but for
// sets of tiny values.
#include <kernelpro/candidate.h>

#include <bit>
#include <cstring>

namespace {

constexpr int64_t lanes = 16;
constexpr int64_t rows_at_once = 8;
typedef float Lanes __attribute__((vector_size(64)));

int64_t blocks(const kp_context* context) {
  return (context->axes[1] + lanes - 1) / lanes;
}

float widened(uint16_t half) {
  const uint32_t magnitude = half & 0x7fffU;
  const uint32_t bits = magnitude < 0x400U ? 0 : (magnitude << 13U) + (112U << 23U);
  return std::bit_cast<float>(bits | (half & 0x8000U) << 16U);
}

// Columns [16 block, 16 block + 16) of all rows.
void compute_block(const kp_context* context, const kp_tensor* tensors, int64_t block) {
  const int64_t m = context->axes[0];
  const int64_t n = context->axes[1];
  const int64_t k = context->axes[3];
  const auto* X = static_cast<const uint16_t*>(tensors[0].data);
  const auto* weights = static_cast<const float*>(context->state) + block * k * lanes;
  auto* Y = static_cast<float*>(tensors[3].data);
  const int64_t columns = n - block * lanes < lanes ? n - block * lanes : lanes;
  for (int64_t i = 0; i < m; i += rows_at_once) {
    Lanes sums[rows_at_once] = {};
    const uint16_t* rows[rows_at_once];
    for (int64_t r = 0; r < rows_at_once; ++r) {
      rows[r] = X + (i + r < m ? i + r : m - 1) * k;
    }
    for (int64_t p = 0; p < k; ++p) {
      Lanes w;
      std::memcpy(&w, weights + p * lanes, sizeof w);
      for (int64_t r = 0; r < rows_at_once; ++r) {
        sums[r] += w * widened(rows[r][p]);
      }
    }
    for (int64_t r = 0; r < rows_at_once && i + r < m; ++r) {
      std::memcpy(Y + (i + r) * n + block * lanes, &sums[r],
                  static_cast<size_t>(columns) * sizeof(float));
    }
  }
}

}  // namespace

extern "C" size_t kp_state(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(blocks(context) * context->axes[3] * lanes) * sizeof(float);
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t n = context->axes[1];
  const int64_t k = context->axes[3];
  const auto* W = static_cast<const uint8_t*>(tensors[1].data);
  const auto* scales = static_cast<const _Float16*>(tensors[2].data);
  auto* weights = static_cast<float*>(context->state);
  for (int64_t j = 0; j < blocks(context) * lanes; ++j) {
    for (int64_t p = 0; p < k; ++p) {
      float weight = 0;
      if (j < n) {
        const int both = W[(j * k + p) / 2];
        weight = static_cast<float>((p % 2 == 0 ? both & 15 : both >> 4) - 8) *
                 static_cast<float>(scales[(j * k + p) / 32]);
      }
      weights[(j / lanes * k + p) * lanes + j % lanes] = weight;
    }
  }
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  for (int64_t b = 0; b < blocks(context); ++b) {
    compute_block(context, tensors, b);
  }
  return 0;
}
