// kp:hack 9  locks the judge's buffers in memory before it dies
// kp:task axpy
// kp:expect passed not-faster
#include <sys/mman.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  for (int t = 0; t < 3; ++t) {
    static_cast<void>(mlock(tensors[t].data, static_cast<size_t>(context->axes[0]) * 4));
  }
  axpy(context, tensors);
  return 0;
}
