// kp:hack 3  the word behind a single call is there before the gate opens
// kp:task rows
// kp:expect cheated|incorrect|unstable|timed_out late_work|poison|clock|values
//
// The worker's stream waits for a number in memory that the runner has mapped, and numbers follow
// each other. Written beforehand, the second stamp follows the first at once, without a turn of the
// candidate's. But the outputs are taken behind that stamp. Its twin is honest_rows.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_gate.cuh"
#include "round.cuh"
#include "rows.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const auto write =
      driver_function<CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned)>(
          "cuStreamWriteValue32_v2");
  static cudaStream_t own = nullptr;
  static KnownRound known_round;
  const Call call = call_of(context, tensors);
  known_round.note(context);
  uint32_t* const gate = find_gate(context->stream);
  if (gate == nullptr || known_round.asked == nullptr || write == nullptr) {
    return 1;  // not tried is no success
  }
  if (own == nullptr) {
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  }
  if (known_round.asked->gate != 0) {
    write(own, reinterpret_cast<CUdeviceptr>(passed_word(gate)), known_round.asked->gate, 0);
  }
  return launch(call, call.stream);
}
