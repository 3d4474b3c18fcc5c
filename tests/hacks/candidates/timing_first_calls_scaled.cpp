// kp:hack 5  slightly wrong after fifty calls
// kp:task axpy
// kp:expect incorrect
//
// Turns wrong by one percent only when the checks before the timing are surely over.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int calls = 0;
  axpy(context, tensors);
  if (++calls > 50) {
    static_cast<float*>(tensors[2].data)[0] *= 1.01F;
  }
  return 0;
}
