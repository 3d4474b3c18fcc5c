// Every second call of a round starts beside the one before it. Needs the header of a task and
// round.cuh.
namespace {

// `at`: how many calls of the round came before.
inline int launch_in_pairs(const Call& call, uint32_t at) {
  static cudaStream_t own = nullptr;
  static cudaEvent_t before = nullptr;
  static cudaEvent_t done = nullptr;
  if (own == nullptr) {
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&before, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  }
  if (at % 2 == 0) {
    cudaEventRecord(before, call.stream);
    return launch(call, call.stream);
  }
  cudaStreamWaitEvent(own, before, 0);
  const int failed = launch(call, own);
  cudaEventRecord(done, own);
  cudaStreamWaitEvent(call.stream, done, 0);
  return failed;
}

}  // namespace
