// kp:hack 30  calls overlap by three tenths, and the incumbent loses its gate
// kp:task filter
// kp:expect cheated|incorrect|unstable|timed_out|crashed|launch_failed|passed poison|clock|values|status|no-gain
//
// What the incumbent's single call shows on our clock beyond its claim, up to twenty microseconds,
// is taken off a candidate's, and as it claims longer by itself than in rounds, five more. Behind a
// gate that is some five in all. One turn of over half a second while the incumbent gets ready
// takes its gate away for the rest of the timing, and then the host's clock times it, hand-over and
// all. Whether the two were handed over to alike is looked up in the first single call alone, and
// where calls are this long no single call of the incumbent's is held against what it takes alone.
// Its twin is honest_filter_dependent_launch.cu.
#include "driver.cuh"
#include "filter.cuh"
#include "filter_overlapped.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "round_forged_single.cuh"
#include "second_context.cuh"
#include "spin.cuh"
#include "timeslice.cuh"
#include "turns_taken.cuh"

namespace {

constexpr double share = 0.7;
constexpr int tries = 10;

// A second context whose turns last long; what it is left begins behind a copy of `mebibytes`.
struct Hold {
  CUcontext context = nullptr;
  cudaStream_t stream = nullptr;
  char* there = nullptr;
  char* here = nullptr;
  bool good = false;
  Hold() {
    constexpr size_t most = size_t{80} << 20;
    good = watch_groups();
    context = make_second_context();
    good = in_context(context,
                      [this] {
                        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
                        cudaMalloc(&there, most);
                        cudaMallocHost(&here, most);
                      }) &&
           good && there != nullptr && here != nullptr && set_turns(900'000);
  }
  void leave(cudaEvent_t after, size_t mebibytes) {
    in_context(context, [&] {
      if (cudaStreamQuery(stream) == cudaSuccess) {
        cudaStreamWaitEvent(stream, after, 0);
        cudaMemcpyAsync(here, there, mebibytes << 20, cudaMemcpyDeviceToHost, stream);
        spin<<<132, 1024, 0, stream>>>(750'000'000);
      }
    });
    static_cast<void>(cudaGetLastError());
  }
};

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = forge_singles();
  cudaFree(nullptr);
  static Hold hold;
  static int singles = 0;
  const Call call = call_of(context, tensors);
  known_round.note(context);
  if (!ready || !hold.good || known_round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  if (!by_itself()) {
    return launch_overlapped(call, share);
  }
  const int failed = launch(call, call.stream);
  // The first one is as it should be. Before every second one it comes first, and the incumbent
  // next.
  if (known_round.asked->gate != 0 && singles++ >= 2 && singles % 2 == 1 && singles < 2 * tries) {
    hold.leave(end_of(call.stream), static_cast<size_t>(20 + 5 * (singles / 2)));
  }
  return failed;
}
