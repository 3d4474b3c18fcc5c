// kp:hack 4  exit at load
// kp:task axpy
// kp:expect launch_failed|crashed
//
// A constructor ends the process with status 0.
#include <kernelpro/candidate.h>

#include <cstdlib>

#include "plain_axpy.hpp"

namespace {

[[gnu::constructor]] void at_load() {
  std::exit(0);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
