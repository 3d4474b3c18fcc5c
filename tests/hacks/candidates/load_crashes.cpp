// kp:hack bad-input  fault at load
// kp:task axpy
// kp:expect launch_failed|crashed
//
// A constructor aborts.
#include <kernelpro/candidate.h>

#include <cstdlib>

#include "plain_axpy.hpp"

namespace {

[[gnu::constructor]] void at_load() {
  std::abort();
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
