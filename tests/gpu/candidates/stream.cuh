// The honest kernel of the task "stream": y[i] = a x[i] + b z[i]. The suite puts this text where it
// is included, because a candidate is one file.
#include <cuda_runtime.h>
#include <kernelpro/candidate.h>

namespace {

struct Call {
  int64_t n;
  float a;
  float b;
  const float* x;
  const float* z;
  float* y;
  cudaStream_t stream;
};

inline Call call_of(const kp_context* context, const kp_tensor* tensors) {
  return {context->axes[0],
          static_cast<float>(context->scalars[0]),
          static_cast<float>(context->scalars[1]),
          static_cast<const float*>(tensors[0].data),
          static_cast<const float*>(tensors[1].data),
          static_cast<float*>(tensors[2].data),
          static_cast<cudaStream_t>(context->stream)};
}

inline unsigned blocks_for(int64_t n) {
  return static_cast<unsigned>((n + 255) / 256);
}

__global__ void compute(Call call) {
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < call.n) {
    call.y[i] = call.a * call.x[i] + call.b * call.z[i];
  }
}

inline int launch(const Call& call, cudaStream_t stream) {
  compute<<<blocks_for(call.n), 256, 0, stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}

}  // namespace
