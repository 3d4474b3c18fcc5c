// kp:hack bad-input  a kernel that ptxas does not finish in time or memory
// kp:task stream
// kp:expect build_failed
//
// The compiler passes the text on as it is: a hundred thousand branches in one kernel. It is
// stopped with all its children.
#include "stream.cuh"

#define KP_TEN(x) x x x x x x x x x x
#define KP_STEP                      \
  "{ .reg .pred p;\n"                \
  "setp.gt.f32 p, %0, %1;\n"         \
  "@p bra AWAY;\n"                   \
  "fma.rn.f32 %0, %0, %1, %2;\n"     \
  "fma.rn.f32 %1, %2, %0, %1;\n"     \
  "AWAY: fma.rn.f32 %2, %1, %0, %2;" \
  "}\n"

namespace {

__global__ void compute_slowly(Call call) {
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  float a = call.x[i % call.n];
  float b = call.z[i % call.n];
  float c = call.a;
  asm volatile(KP_TEN(KP_TEN(KP_TEN(KP_TEN(KP_TEN(KP_STEP))))) : "+f"(a), "+f"(b), "+f"(c));
  call.y[i % call.n] = a + b + c;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  compute_slowly<<<blocks_for(call.n), 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
