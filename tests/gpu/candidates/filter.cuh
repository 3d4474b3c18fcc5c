// The honest kernel of the task "filter": y[j] = a y[j - 1] + x[j], along each of many columns. A
// chain of steps on few blocks: long calls that leave most of the GPU idle. The suite puts this
// text where it is included, because a candidate is one file.
#include <cuda_runtime.h>
#include <kernelpro/candidate.h>

namespace {

struct Call {
  int steps;
  int64_t n;
  float a;
  const float* x;
  float* y;
  cudaStream_t stream;
};

inline Call call_of(const kp_context* context, const kp_tensor* tensors) {
  return {static_cast<int>(context->axes[0]),      context->axes[1],
          static_cast<float>(context->scalars[0]), static_cast<const float*>(tensors[0].data),
          static_cast<float*>(tensors[1].data),    static_cast<cudaStream_t>(context->stream)};
}

inline unsigned blocks_for(int64_t n) {
  return static_cast<unsigned>((n + 31) / 32);
}

// Steps [first, last) of one column, `depth` loads at a time; the last value.
template <int depth>
__device__ inline float run_column(const Call& call, int64_t column, int first, int last, float y) {
  const float* x = call.x + column;
  float* out = call.y + column;
  int j = first;
  for (; j + depth <= last; j += depth) {
    float values[depth];
#pragma unroll
    for (int i = 0; i < depth; ++i) {
      values[i] = __ldg(x + (j + i) * call.n);
    }
#pragma unroll
    for (int i = 0; i < depth; ++i) {
      y = call.a * y + values[i];
      out[(j + i) * call.n] = y;
    }
  }
  for (; j < last; ++j) {
    y = call.a * y + __ldg(x + j * call.n);
    out[j * call.n] = y;
  }
  return y;
}

// One thread for each column.
__global__ void compute(Call call) {
  const int64_t column = blockIdx.x * int64_t{32} + threadIdx.x;
  if (column < call.n) {
    run_column<4>(call, column, 0, call.steps, 0.0F);
  }
}

inline int launch(const Call& call, cudaStream_t stream) {
  compute<<<blocks_for(call.n), 32, 0, stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}

inline const float* last_word(const Call& call) {
  return call.x + call.steps * call.n - 1;
}

}  // namespace
