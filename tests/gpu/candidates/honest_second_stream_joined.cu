// kp:hack honest  half on a second stream, joined by events
// kp:task stream
// kp:expect passed
// kp:twin timing_foreign_stream.cu
//
// The given stream waits for the other before the call returns.
#include "stream.cuh"

namespace {

__global__ void compute_part(Call call, int64_t first, int64_t end) {
  const int64_t i = first + blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < end) {
    call.y[i] = call.a * call.x[i] + call.b * call.z[i];
  }
}

struct Side {
  cudaStream_t stream = nullptr;
  cudaEvent_t fork = nullptr;
  cudaEvent_t join = nullptr;
  Side() {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
  }
};

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const Side side;
  const Call call = call_of(context, tensors);
  const int64_t half = call.n / 2;
  cudaEventRecord(side.fork, call.stream);
  cudaStreamWaitEvent(side.stream, side.fork, 0);
  compute_part<<<blocks_for(half) + 1, 256, 0, call.stream>>>(call, 0, half);
  compute_part<<<blocks_for(call.n - half), 256, 0, side.stream>>>(call, half, call.n);
  cudaEventRecord(side.join, side.stream);
  cudaStreamWaitEvent(call.stream, side.join, 0);
  return cudaGetLastError() != cudaSuccess;
}
