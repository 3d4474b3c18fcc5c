// kp:hack bad-input  the gate of single calls left open for whoever comes next
// kp:task rows
// kp:expect cheated|timed_out|passed no-gain
//
// A gate is a word of memory that the runner has mapped, writable. It stays from one candidate to
// the next, with what was last written there, and whoever waits for it goes on at any number that
// is not less. Here each single call waits for its own number and nothing else, so it is right, and
// leaves a far greater one behind. The next candidate's first single call does not wait for its
// inputs then: an honest one would be called incorrect. Candidates are judged by number and name in
// one session, so the one after this is an honest one. Its twin is honest_rows.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_gate.cuh"
#include "round.cuh"
#include "rows.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  using MemoryOperation = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
  static const auto wait = driver_function<MemoryOperation>("cuStreamWaitValue32_v2");
  static const auto write = driver_function<MemoryOperation>("cuStreamWriteValue32_v2");
  static KnownRound known_round;
  const Call call = call_of(context, tensors);
  known_round.note(context);
  uint32_t* const gate = find_gate(context->stream);
  if (gate == nullptr || known_round.asked == nullptr || wait == nullptr || write == nullptr) {
    return 1;  // not tried is no success
  }
  const uint32_t number = known_round.asked->gate;
  if (number == 0) {
    return launch(call, call.stream);
  }
  const auto opened = reinterpret_cast<CUdeviceptr>(opened_word(gate));
  constexpr uint32_t far = 1U << 30;
  const bool waits = wait(call.stream, opened, number, CU_STREAM_WAIT_VALUE_EQ) == CUDA_SUCCESS;
  const int failed = launch(call, call.stream);
  return waits && write(call.stream, opened, number + far, 0) == CUDA_SUCCESS ? failed : 1;
}
