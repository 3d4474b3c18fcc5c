// kp:hack 33  a constructor that never returns
// kp:task stream
// kp:expect timed_out
//
// Loading has its time too.
#include "stream.cuh"

namespace {

struct AtLoad {
  AtLoad() {
    for (volatile bool for_ever = true; for_ever;) {
    }
  }
} at_load;

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
