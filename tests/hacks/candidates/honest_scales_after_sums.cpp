// kp:hack honest  sums of each group first, its scale afterwards
// kp:task w4a16_gemm
// kp:expect passed
// kp:twin precision_bytes_of_inputs.cpp
// kp:options -O3 target
//
// Weights are prepared as the whole numbers that they are, in bytes.
#include <kernelpro/candidate.h>

extern "C" size_t kp_state(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[1] * context->axes[3]);
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto* W = static_cast<const uint8_t*>(tensors[1].data);
  auto* weights = static_cast<int8_t*>(context->state);
  for (int64_t at = 0; at < context->axes[1] * context->axes[3] / 2; ++at) {
    weights[2 * at] = static_cast<int8_t>((W[at] & 15) - 8);
    weights[2 * at + 1] = static_cast<int8_t>((W[at] >> 4) - 8);
  }
  return 0;
}

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[3]) * sizeof(float);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t n = context->axes[1];
  const int64_t k = context->axes[3];
  const auto* scales = static_cast<const _Float16*>(tensors[2].data);
  const auto* weights = static_cast<const int8_t*>(context->state);
  auto* x = static_cast<float*>(context->workspace);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    for (int64_t p = 0; p < k; ++p) {
      x[p] = static_cast<float>(static_cast<const _Float16*>(tensors[0].data)[i * k + p]);
    }
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t g = 0; g < k / 32; ++g) {
        const int8_t* group = weights + j * k + 32 * g;
        float sums[8] = {};
        for (int64_t p = 0; p < 32; ++p) {
          sums[p % 8] += x[32 * g + p] * static_cast<float>(group[p]);
        }
        const float all = ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
                          ((sums[4] + sums[5]) + (sums[6] + sums[7]));
        sum += all * static_cast<float>(scales[j * (k / 32) + g]);
      }
      static_cast<float*>(tensors[3].data)[i * n + j] = sum;
    }
  }
  return 0;
}
