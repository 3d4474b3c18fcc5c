// kp:hack 30  pages that are not there are touched when the incumbent's turn has come
// kp:task nearest
// kp:expect cheated|passed|timed_out|launch_failed|out_of_memory|crashed clock|status|no-gain
//
// A kernel of a second context reads managed memory for the first time, behind a copy that delays
// it. Each page is a fault that the kernel of the machine answers while the process is stopped, and
// the GPU's tables change under everybody. Its twin is the baseline.
#include "driver.cuh"
#include "nearest.cuh"
#include "program.cuh"
#include "round.cuh"
#include "second_context.cuh"
#include "second_context_later.cuh"

namespace {

constexpr size_t region = size_t{1} << 30;
constexpr int regions = 24;

__global__ void touch(char* memory, size_t bytes) {
  constexpr size_t page = size_t{1} << 16;
  for (size_t at = (blockIdx.x * size_t{32} + threadIdx.x) * page; at < bytes;
       at += gridDim.x * 32 * page) {
    memory[at] = 1;
  }
}

char* make_managed(LeftBehind& later) {
  char* memory = nullptr;
  in_context(later.context, [&memory] {
    if (cudaMallocManaged(&memory, regions * region) != cudaSuccess) {
      memory = nullptr;
    }
  });
  return memory;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  cudaFree(nullptr);
  static LeftBehind later(160);
  static char* const memory = make_managed(later);
  static KnownRound round;
  static int next = 0;
  const Call call = call_of(context, tensors);
  round.note(context);
  if (!later.good || memory == nullptr) {
    return 1;  // not tried is no success
  }
  const int failed = launch(call, call.stream);
  if (next < regions && round.known() && round.asked->count > 8 &&
      round.at + 1 == round.asked->count) {
    char* const here = memory + next++ * region;
    later.leave([here](cudaStream_t stream) { touch<<<8, 32, 0, stream>>>(here, region); });
  }
  return failed;
}
