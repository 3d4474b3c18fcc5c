// kp:hack bad-input  recursion without end on the host
// kp:task stream
// kp:expect crashed signal|guard
//
// As on a CPU.
#include "stream.cuh"

namespace {

__attribute__((noinline)) int deeper(volatile int* depth) {
  volatile char room[4096];
  room[0] = static_cast<char>(*depth);
  *depth = *depth + 1;
  return *depth == 0 ? 0 : deeper(depth) + room[0];
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  volatile int depth = 1;
  const Call call = call_of(context, tensors);
  return deeper(&depth) == 0 ? launch(call, call.stream) : 1;
}
