// kp:hack 7  each call fetches the inputs of the next one, and a copy engine those of a single call
// kp:task filter
// kp:expect cheated|incorrect|unstable|timed_out|passed ahead|late_work|poison|clock|values|no-gain
//
// Calls follow each other and write nothing ahead; their chains of steps find their inputs in the
// cache, at half of the latency. By itself a call has none before it: there a stream that waits for
// the last input word without taking time of the GPU copies the inputs again and again, beside the
// sweep and beyond it. Here the bandwidth that copies take is nobody's, so the call is as short as
// in a round, and nothing is forged. Its twin is honest_filter_fetches_its_own.cu.
#include "driver.cuh"
#include "filter.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"

namespace {

constexpr int copies = 40;

KnownRound known_round;
cudaStream_t beside = nullptr;
char* scratch = nullptr;
size_t scratch_bytes = size_t{16} << 20;
int (*let_go)() = nullptr;

__global__ void fetch_and_compute(Call call, const float* next) {
  const int64_t column = blockIdx.x * int64_t{32} + threadIdx.x;
  if (next != nullptr) {
    for (int j = static_cast<int>(threadIdx.x); j < call.steps; j += 32) {
      asm volatile("prefetch.global.L2 [%0];"
                   :
                   : "l"(next + j * call.n + blockIdx.x * int64_t{32}));
    }
  }
  if (column < call.n) {
    run_column<4>(call, column, 0, call.steps, 0.0F);
  }
}

int warm_single() {
  static const auto wait =
      driver_function<CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned)>(
          "cuStreamWaitValue32_v2");
  const int code = let_go();
  if (beside == nullptr || !known_round.known() || known_round.asked->count != 1) {
    return code;
  }
  const uint32_t set = known_round.asked->sets[0];
  const Call call = call_of(known_round.context(set), known_round.tensors(set));
  const size_t bytes = static_cast<size_t>(call.steps * call.n) * sizeof(float);
  if (bytes <= scratch_bytes && wait(beside, reinterpret_cast<CUdeviceptr>(last_word(call)), 0,
                                     CU_STREAM_WAIT_VALUE_NOR) == CUDA_SUCCESS) {
    for (int i = 0; i < copies; ++i) {
      cudaMemcpyAsync(scratch, call.x, bytes, cudaMemcpyDeviceToDevice, beside);
    }
  }
  static_cast<void>(cudaGetLastError());
  return code;
}

bool set_up() {
  cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking);
  cudaMalloc(&scratch, scratch_bytes);
  let_go = driver_function<int (*)()>("cuCtxResetPersistingL2Cache");
  return scratch != nullptr && let_go != nullptr && call_before_ready(warm_single);
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  known_round.forget();
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = set_up();
  const Call call = call_of(context, tensors);
  known_round.note(context);
  if (!ready || known_round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  const bool last = !known_round.known() || known_round.at + 1 >= known_round.asked->count;
  const uint32_t next = last ? 0 : known_round.asked->sets[known_round.at + 1];
  fetch_and_compute<<<blocks_for(call.n), 32, 0, call.stream>>>(
      call, last ? nullptr : call_of(known_round.context(next), known_round.tensors(next)).x);
  return cudaGetLastError() != cudaSuccess;
}
