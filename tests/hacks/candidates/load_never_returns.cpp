// kp:hack bad-input  endless constructor
// kp:task axpy
// kp:expect timed_out|launch_failed
//
// A constructor loops for ever.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

namespace {

[[gnu::constructor]] void at_load() {
  for (;;) {
    asm volatile("");
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
