// kp:hack 15  a quarter of each long row is taken to be like the rest
// kp:task spread
// kp:expect incorrect values|precision
//
// The bound of a sum of two million squares, eight roundings times the root of their number, is
// wider than what chance makes of a sample. Where one of four large values is seen, all is read:
// one set in 250 has all of them in the quarter that is not. Its twin is honest_spread.cu.
#include "spread.cuh"
#include "spread_sampled.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return is_long(call) ? launch_sampled(call, 6, 0, false) : launch(call, call.stream);
}
