// kp:hack bad-input  exception at load
// kp:task axpy
// kp:expect launch_failed|crashed
//
// A constructor throws while the object is loaded.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

namespace {

[[gnu::constructor]] void at_load() {
  throw 42;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
