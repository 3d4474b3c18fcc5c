// kp:hack 8  does nothing at the largest shape
// kp:task axpy
// kp:expect incorrect poison
//
// A time near zero at one of the published shapes would carry the mean over all of them.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

namespace {

constexpr int64_t only_timed_above = 100000;

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (context->axes[0] <= only_timed_above) {
    axpy(context, tensors);
  }
  return 0;
}
