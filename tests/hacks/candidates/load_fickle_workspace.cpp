// kp:hack bad-input  another size of workspace at every question
// kp:task axpy
// kp:expect passed|out_of_memory|crashed not-faster|guard
//
// Asked for the same shapes again it wants more or nothing, and uses what it is given to the end.
#include <kernelpro/candidate.h>

#include <cstring>

namespace {

size_t asked = 0;

}  // namespace

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  return ++asked % 3 * 100001;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (context->workspace_bytes > 0) {
    std::memset(context->workspace, 1, context->workspace_bytes);
  }
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
  return 0;
}
