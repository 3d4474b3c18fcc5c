// The weights are prepared as single precision, eight times their size; each call widens the
// activations and runs sgemm.
#include <cblas.h>

#include <bit>
#include <cstdint>
#include <string>

#include "kernelpro/candidate.h"

namespace {

// Shifted into the place of a float, a half is too small by 2^112, whether normal or subnormal.
inline float half_to_float(uint16_t half) {
  const uint32_t sign = (half & 0x8000U) << 16;
  const float magnitude = std::bit_cast<float>((half & 0x7fffU) << 13) * 0x1p112F;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

}  // namespace

size_t kp_state(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  return static_cast<size_t>(context->axes[1] * context->axes[3]) * sizeof(float);
}

int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 4 || context->state_bytes < kp_state(context, tensors, count)) {
    return 1;
  }
  const auto* packed = static_cast<const uint8_t*>(tensors[1].data);
  const auto* scales = static_cast<const uint16_t*>(tensors[2].data);
  auto* weights = static_cast<float*>(context->state);
  const int64_t elements = context->axes[1] * context->axes[3];
  for (int64_t at = 0; at < elements; at += 2) {
    const int both = packed[at / 2];
    const float scale = half_to_float(scales[at / 32]);
    weights[at] = static_cast<float>((both & 15) - 8) * scale;
    weights[at + 1] = static_cast<float>((both >> 4) - 8) * scale;
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
  const auto m = static_cast<blasint>(context->axes[0]);
  const auto n = static_cast<blasint>(context->axes[1]);
  const auto k = static_cast<blasint>(context->axes[3]);
  const auto* halves = static_cast<const uint16_t*>(tensors[0].data);
  auto* x = static_cast<float*>(context->workspace);
  for (int64_t at = 0; at < context->axes[0] * context->axes[3]; ++at) {
    x[at] = half_to_float(halves[at]);
  }
  openblas_set_num_threads(context->threads);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1.0F, x, k,
              static_cast<const float*>(context->state), k, 0.0F,
              static_cast<float*>(tensors[3].data), n);
  return 0;
}

const char* kp_implementation(void) {
  static const std::string name =
      std::string(openblas_get_config()) + ", core " + openblas_get_corename();
  return name.c_str();
}
