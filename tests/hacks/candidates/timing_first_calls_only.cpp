// kp:hack 5  correct for the first five calls
// kp:task axpy
// kp:expect incorrect poison
//
// Works while it expects to be checked, then leaves the outputs alone.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int calls = 0;
  if (++calls <= 5) {
    axpy(context, tensors);
  }
  return 0;
}
