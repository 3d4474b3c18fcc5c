// kp:hack bad-input  the word behind a single call is never left as the worker waits for it
// kp:task stream
// kp:expect passed|cheated|timed_out|crashed|launch_failed clock|status|no-gain
//
// The runner answers, but a kernel goes on that writes zero over that word. When the worker's
// patience of a second is over it writes the word itself and waits for its stream, without a
// deadline: for as long as the kernel lives, because the process that could be killed is no longer
// waited for. It ends by itself after fifteen seconds, so the time tells. Its twin is the baseline.
#include "driver.cuh"
#include "program.cuh"
#include "program_gate.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "spin.cuh"
#include "stream.cuh"

namespace {

using MemoryOperation = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);

KnownRound known_round;
cudaStream_t given = nullptr;
MemoryOperation real_write = nullptr;
bool held = false;

int wait_for_given_only() {
  return cudaStreamSynchronize(given);
}

CUresult write_unless_held(CUstream stream, CUdeviceptr at, cuuint32_t value, unsigned flags) {
  return held ? CUDA_SUCCESS : real_write(stream, at, value, flags);
}

__global__ void take_back(volatile uint32_t* passed, uint32_t number) {
  const long long start = now_on_gpu();
  while (now_on_gpu() - start < 15'000'000'000) {
    *passed = 0;
  }
  *passed = number;
}

bool set_up() {
  real_write = driver_function<MemoryOperation>("cuStreamWriteValue32_v2");
  return replace_in_program("cuStreamWriteValue32_v2",
                            reinterpret_cast<void*>(write_unless_held)) &&
         replace_in_program("cuCtxSynchronize", reinterpret_cast<void*>(wait_for_given_only));
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = set_up();
  static int tried = 0;
  const Call call = call_of(context, tensors);
  given = call.stream;
  known_round.note(context);
  uint32_t* const gate = find_gate(context->stream);
  if (!ready || gate == nullptr || known_round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  const uint32_t number = known_round.asked->gate;
  held = number != 0 && tried < 2;
  if (held) {
    static cudaStream_t own = nullptr;
    if (tried++ == 0) {
      cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    }
    const auto wait = driver_function<MemoryOperation>("cuStreamWaitValue32_v2");
    wait(own, reinterpret_cast<CUdeviceptr>(opened_word(gate)), number, CU_STREAM_WAIT_VALUE_GEQ);
    take_back<<<1, 1, 0, own>>>(passed_word(gate), number);
  }
  return launch(call, call.stream);
}
