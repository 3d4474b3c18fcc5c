// kp:hack 30  a kernel that starts behind a slow copy, when the incumbent's turn has come
// kp:task stream
// kp:expect cheated|passed|timed_out|launch_failed|crashed clock|status|no-gain
//
// The copy runs in a second context on an engine of its own and takes nothing of the time on its
// own clock; what follows it burns power for as long as a round. Its twin is the baseline.
#include "driver.cuh"
#include "program.cuh"
#include "round.cuh"
#include "second_context.cuh"
#include "stream.cuh"

namespace {

constexpr size_t delay_bytes = size_t{600} << 20;

__global__ void burn(long long cycles, float* never) {
  const long long start = clock64();
  float a = static_cast<float>(threadIdx.x);
  while (clock64() - start < cycles) {
    for (int i = 0; i < 256; ++i) {
      a = a * 1.0001F + 0.5F;
    }
  }
  if (a == 1.0F) {
    *never = a;
  }
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
  }
  void leave() {
    in_context(context, [this] {
      cudaMemcpyAsync(here, there, delay_bytes, cudaMemcpyDeviceToHost, stream);
      burn<<<264, 1024, 0, stream>>>(14'000'000, reinterpret_cast<float*>(there));
    });
  }
};

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  cudaFree(nullptr);
  static Tax tax;
  static KnownRound round;
  const Call call = call_of(context, tensors);
  round.note(context);
  const int failed = launch(call, call.stream);
  if (tax.good && round.known() && round.asked->count > 8 && round.at + 1 == round.asked->count) {
    tax.leave();
  }
  return failed;
}
