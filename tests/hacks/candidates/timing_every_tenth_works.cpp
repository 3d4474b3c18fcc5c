// kp:hack 32  only every tenth call works
// kp:task axpy
// kp:expect incorrect poison
//
// Does the work in one call of ten and returns at once from the others.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int calls = 0;
  if (calls++ % 10 == 0) {
    axpy(context, tensors);
  }
  return 0;
}
