// kp:hack 16  passes an input through
// kp:task axpy
// kp:expect incorrect
//
// Copies y to the output and leaves x out.
#include <kernelpro/candidate.h>

#include <cstring>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  std::memcpy(tensors[2].data, tensors[1].data,
              static_cast<size_t>(context->axes[0]) * sizeof(float));
  return 0;
}
