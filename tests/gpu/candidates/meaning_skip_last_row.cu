// kp:hack 16  the last row left out
// kp:task rows
// kp:expect incorrect poison
//
// One row of many.
#include "rows.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  if (call.m > 1) {
    compute<<<call.m - 1, 256, 0, call.stream>>>(call);
  }
  return cudaGetLastError() != cudaSuccess;
}
