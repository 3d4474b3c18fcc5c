// kp:hack 10  sizes remembered by the address where they stand
// kp:task axpy
// kp:expect incorrect|crashed
#include <map>

#include "plain_axpy.hpp"

namespace {

std::map<const int64_t*, int64_t> sizes;

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t size = sizes.try_emplace(context->axes, context->axes[0]).first->second;
  kp_context other = *context;
  other.axes = &size;
  axpy(&other, tensors);
  return 0;
}
