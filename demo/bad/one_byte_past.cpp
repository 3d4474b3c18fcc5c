// demo:expect *: guard
// kp:options -O1
// Right results, and one byte written past the output: a loop that runs once too often.
#define kp_launch honest_launch
#include "baseline.cpp"
#undef kp_launch

extern "C" KP_EXPORT int kp_launch(const kp_context* context, const kp_tensor* tensors,
                                   int32_t count) {
  const int status = honest_launch(context, tensors, count);
  const kp_tensor& out = tensors[count - 1];
  int64_t bytes = out.dtype.bits / 8;
  for (int32_t axis = 0; axis < out.rank; ++axis) {
    bytes *= out.shape[axis];
  }
  static_cast<volatile char*>(out.data)[bytes] = 1;
  return status;
}
