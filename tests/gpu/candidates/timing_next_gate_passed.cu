// kp:hack bad-input  the word behind the next candidate's single call written before it dies
// kp:task stream
// kp:expect cheated|timed_out|crashed|launch_failed|passed no-gain
//
// The worker waits for a number in memory that the runner has mapped; numbers follow each other,
// and the memory stays from one candidate to the next. When the worker has seen its number, a copy
// engine writes the next one there, and each single call takes it back before it is ready. The last
// of them does not: the outputs of the next candidate's first single call are taken before it has
// computed them, and an honest one would be called incorrect. The one after this is honest. Its
// twin is honest_baseline.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_gate.cuh"
#include "round.cuh"
#include "stream.cuh"

namespace {

struct Writer {
  cudaStream_t stream = nullptr;
  size_t bytes = size_t{64} << 20;  // some 1.3 milliseconds
  char* there = nullptr;
  char* here = nullptr;
  bool good = false;
  Writer() {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc(&there, bytes);
    good = cudaMallocHost(&here, bytes) == cudaSuccess && there != nullptr;
  }
};

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  using MemoryOperation = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
  static const auto wait = driver_function<MemoryOperation>("cuStreamWaitValue32_v2");
  static const auto write = driver_function<MemoryOperation>("cuStreamWriteValue32_v2");
  static Writer writer;
  static KnownRound known_round;
  const Call call = call_of(context, tensors);
  known_round.note(context);
  uint32_t* const gate = find_gate(context->stream);
  if (gate == nullptr || known_round.asked == nullptr || !writer.good || wait == nullptr ||
      write == nullptr) {
    return 1;  // not tried is no success
  }
  const uint32_t number = known_round.asked->gate;
  if (number == 0) {
    return launch(call, call.stream);
  }
  const auto passed = reinterpret_cast<CUdeviceptr>(passed_word(gate));
  cudaStreamSynchronize(writer.stream);
  write(writer.stream, passed, number - 1, 0);
  cudaStreamSynchronize(writer.stream);
  const int failed = launch(call, call.stream);
  // Behind the runner's own word, and so much later that the worker has seen it. The runner's wait
  // for the context lasts as long; it is not on the clock of a single call.
  wait(writer.stream, passed, number, CU_STREAM_WAIT_VALUE_EQ);
  cudaMemcpyAsync(writer.here, writer.there, writer.bytes, cudaMemcpyDeviceToHost, writer.stream);
  write(writer.stream, passed, number + 1, 0);
  return failed;
}
