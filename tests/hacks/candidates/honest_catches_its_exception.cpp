// kp:hack honest  throws and catches
// kp:task axpy
// kp:expect passed
// kp:twin end_throw_error.cpp
//
// An exception that stays inside is nobody's business.
#include <kernelpro/candidate.h>

#include <stdexcept>

namespace {

void axpy(const kp_context* context, const kp_tensor* tensors) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  try {
    if (context->axes[0] > 0) {
      throw std::runtime_error("the quick path is not for this size");
    }
  } catch (const std::runtime_error&) {
    axpy(context, tensors);
  }
  return 0;
}
