// kp:hack 27  a megabyte on standard error
// kp:task axpy
// kp:expect passed
//
// Prints a megabyte of bytes that are no text once; nobody may block on it.
#include <kernelpro/candidate.h>
#include <unistd.h>

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

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static bool printed = false;
  const std::string line(1024, '\xff');
  for (int i = 0; !printed && i < 1024; ++i) {
    [[maybe_unused]] const ssize_t written = write(2, line.data(), line.size());
  }
  printed = true;
  axpy(context, tensors);
  return 0;
}
