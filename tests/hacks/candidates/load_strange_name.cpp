// kp:hack bad-input  implementation name that is no text
// kp:task axpy
// kp:expect passed
//
// Names itself with bytes that are no UTF-8, longer than the reply has room for.
#include <kernelpro/candidate.h>

#include <string>

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

extern "C" const char* kp_implementation(void) {
  static const std::string name(2000, '\xff');
  return name.c_str();
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
