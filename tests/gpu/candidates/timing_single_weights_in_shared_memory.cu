// kp:hack 6  calls overlap, and the weights of a single call wait in the multiprocessors
// kp:task rows
// kp:expect cheated|incorrect|unstable|timed_out|passed late_work|poison|clock|values|no-gain
//
// The weights of one set fit into the shared memory of all multiprocessors, and the state has them
// before the clock. A kernel that is there already holds them and looks for x: no sweep of a cache
// reaches them, and a call by itself is as short as one that overlaps. Its twin is
// honest_prepare_packed.cu.
#include "program.cuh"
#include "round.cuh"
#include "rows.cuh"
#include "unforked.cuh"

namespace {

constexpr int rows_a_block = 16;
constexpr int longest = 2048;
constexpr int held_bytes = rows_a_block * longest * 4;

__device__ inline float arrived(const float* at) {
  for (;;) {
    const unsigned bits = *reinterpret_cast<const volatile unsigned*>(at);
    if (bits != 0xffffffffU) {
      return __uint_as_float(bits);
    }
    __nanosleep(200);
  }
}

// A warp for each row.
__global__ void hold_and_compute(Call call) {
  extern __shared__ float held[];
  const int64_t first = int64_t{blockIdx.x} * rows_a_block;
  for (int i = static_cast<int>(threadIdx.x); i < rows_a_block * call.k; i += 512) {
    held[i] = call.weights[first * call.k + i];
  }
  __syncthreads();
  const int row = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float sum = 0;
  for (int j = lane; j < call.k; j += 32) {
    sum += held[row * call.k + j] * arrived(call.x + j);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_down_sync(~0U, sum, offset);
  }
  if (lane == 0) {
    call.y[first + row] = sum;
  }
}

int launch_holding(const Call& call) {
  static const Turn own;
  static const bool large =
      cudaFuncSetAttribute(hold_and_compute, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           held_bytes) == cudaSuccess;
  hold_and_compute<<<call.m / rows_a_block, 512, held_bytes, own.stream>>>(call);
  cudaEventRecord(own.done, own.stream);
  cudaStreamWaitEvent(call.stream, own.done, 0);
  return large ? cudaGetLastError() != cudaSuccess : 1;
}

}  // namespace

extern "C" size_t kp_state(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[0] * context->axes[1]) * sizeof(float);
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return cudaMemcpyAsync(context->state, call.weights, context->state_bytes,
                         cudaMemcpyDeviceToDevice, call.stream);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static KnownRound known_round;
  static bool timed = false;
  Call call = call_of(context, tensors);
  call.weights = static_cast<const float*>(context->state);
  known_round.note(context);
  if (known_round.asked == nullptr) {
    return 1;
  }
  timed |= known_round.asked->count > 8;
  if (known_round.asked->count > 1) {
    return launch_beside(call);
  }
  const bool fits = call.m % rows_a_block == 0 && call.k <= longest;
  return timed && fits ? launch_holding(call) : launch(call, call.stream);
}
