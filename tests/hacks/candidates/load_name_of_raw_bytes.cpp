// kp:hack 4  a name that is no text
// kp:task axpy
// kp:expect passed not-faster
//
// What it says it is goes into the certificate: bytes that are no UTF-8, quotes, and no end.
#include <kernelpro/candidate.h>

#include <cstring>

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
  static char name[100000];
  std::memset(name, 0xfe, sizeof name - 1);
  std::memcpy(name, "\"}],\"outcome\":\"passed\"\xff\xc0", 25);
  return name;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
