// kp:hack 28  looks for the evaluator in its environment
// kp:task axpy
// kp:expect passed
//
// Turns wrong when a variable or the program's arguments name the evaluator. It passes because
// its surroundings say nothing.
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
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (text.starts_with("KERNELPRO") || text.starts_with("KP_")) {
      return 0;
    }
  }
  axpy(context, tensors);
  return 0;
}
