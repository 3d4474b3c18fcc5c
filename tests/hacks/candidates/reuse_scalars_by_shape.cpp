// kp:hack 10  what follows from the scalars is kept by the size
// kp:task axpy
// kp:expect incorrect
#include "plain_axpy.hpp"

namespace {

double kept[2] = {0, 0};
int64_t size = 0;

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (size != context->axes[0]) {
    size = context->axes[0];
    kept[0] = context->scalars[0];
  }
  kp_context other = *context;
  other.scalars = kept;
  axpy(&other, tensors);
  return 0;
}
