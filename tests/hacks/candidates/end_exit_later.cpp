// kp:hack 4  exit after twenty calls
// kp:task axpy
// kp:expect crashed exit
//
// Computes twenty times, then leaves with status 0 before anybody can time it.
#include <kernelpro/candidate.h>

#include <cstdlib>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int calls = 0;
  if (++calls > 20) {
    std::exit(0);
  }
  axpy(context, tensors);
  return 0;
}
