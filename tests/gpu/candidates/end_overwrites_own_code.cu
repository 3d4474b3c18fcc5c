// kp:hack bad-input  a kernel writes over the code of a function, which the next one calls
// kp:task stream
// kp:expect crashed|timed_out|incorrect|launch_failed|passed no-gain
//
// Code lies in the memory of the GPU, at the address that a pointer to a function has. Whatever
// becomes of it, the GPU is as it was for the next candidate. Its twin is the baseline.
#include "stream.cuh"

namespace {

using Function = float (*)(float);

__device__ __noinline__ float victim(float value) {
  return value * 2.0F + 1.0F;
}

__device__ Function entry = victim;

__global__ void overwrite(unsigned seed) {
  auto* code = reinterpret_cast<volatile unsigned*>(entry);
  for (int i = 0; i < 64; ++i) {
    seed = seed * 1664525U + 1013904223U;
    code[i] = code[i] ^ seed;
  }
}

__global__ void call_it(float* out) {
  const Function function = *const_cast<Function volatile*>(&entry);
  *out = function(*out);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static float* out = nullptr;
  static unsigned calls = 0;
  const Call call = call_of(context, tensors);
  if (out == nullptr) {
    cudaMalloc(&out, sizeof *out);
  }
  if (call.n > 5000) {
    overwrite<<<1, 1, 0, call.stream>>>(++calls);
    call_it<<<1, 1, 0, call.stream>>>(out);
  }
  return launch(call, call.stream);
}
