// kp:hack 30  calls overlap, and the incumbent is disturbed where it is timed by itself
// kp:task rows
// kp:expect cheated|incorrect|timed_out|crashed|passed late_work|poison|clock|values|no-gain
//
// What the incumbent's call takes longer by itself, up to five microseconds, is taken off the
// candidate's: in two of three such pairs it comes second. A kernel of a second context, behind a
// copy that takes none of the candidate's own time, runs when its turn has come. Nobody holds the
// incumbent's single calls against what they take alone. Its twin is honest_streams_in_turn.cu.
#include "driver.cuh"
#include "program.cuh"
#include "round.cuh"
#include "rows.cuh"
#include "second_context.cuh"
#include "unforked.cuh"

namespace {

constexpr size_t delay_bytes = size_t{160} << 20;  // some three milliseconds

__global__ void spin(long long nanoseconds) {
  long long start = 0;
  long long now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < nanoseconds);
}

struct Tax {
  CUcontext context = nullptr;
  cudaStream_t stream = nullptr;
  char* there = nullptr;
  char* here = nullptr;
  bool good = false;
  Tax() {
    context = make_second_context();
    good = in_context(context, [this] {
      cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
      cudaMalloc(&there, delay_bytes);
      cudaMallocHost(&here, delay_bytes);
    });
    good = good && there != nullptr && here != nullptr;
  }
  void leave() {
    in_context(context, [this] {
      if (cudaStreamQuery(stream) == cudaSuccess) {
        cudaMemcpyAsync(here, there, delay_bytes, cudaMemcpyDeviceToHost, stream);
        spin<<<132, 1024, 0, stream>>>(10'000'000);
      }
    });
    static_cast<void>(cudaGetLastError());
  }
};

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  cudaFree(nullptr);
  static Tax tax;
  static KnownRound round;
  static bool timed = false;
  const Call call = call_of(context, tensors);
  round.note(context);
  if (round.asked == nullptr || !tax.good) {
    return 1;  // not tried is no success
  }
  timed |= round.asked->count > 8;
  const int failed = launch_beside(call);
  if (timed && round.asked->count == 1) {
    tax.leave();
  }
  return failed;
}
