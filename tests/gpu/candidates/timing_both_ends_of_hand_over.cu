// kp:hack 34  first calls begin before the word, the reply comes before the last, and singles confirm
// kp:task rows
// kp:expect cheated|incorrect|unstable|timed_out|passed ahead|late_work|poison|clock|values|no-gain
//
// No call overlaps another. Three calls are queued behind the arrival of the inputs, before the
// clock of the claim; the reply is sent when four are left; the claim leaves out what is believed
// besides. That is some eighty microseconds of a round of 1.4 ms, of which thirty are in the
// budget. A call by itself has no gate, is ahead of its word too, and seems to save as much and
// more. Its twin is honest_rows.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "rows.cuh"

namespace {

inline const float* last_word(const Call& call) {
  return call.x + call.k - 1;
}

}  // namespace

#include "round_reply_early.cuh"
#include "single_ahead.cuh"

namespace {

constexpr uint32_t first_calls = 3;

uint32_t begun_for = 0;  // the round whose first calls are queued

Call call_in_round(uint32_t at) {
  const uint32_t set = known_round.asked->sets[at];
  return call_of(known_round.context(set), known_round.tensors(set));
}

// The word that is given last: of the set with the greatest number.
int begin_round_or_single() {
  if (apart == nullptr || !known_round.known() || known_round.asked->count <= 16) {
    return queue_ahead();
  }
  const int code = let_go();
  uint32_t last = 0;
  for (uint32_t i = 0; i < known_round.asked->count; ++i) {
    last = known_round.asked->sets[i] > known_round.asked->sets[last] ? i : last;
  }
  if (!wait_until_given(apart, last_word(call_in_round(last)))) {
    return code;
  }
  int failed = 0;
  for (uint32_t i = 0; i < first_calls; ++i) {
    failed |= launch(call_in_round(i), apart);
  }
  begun_for = failed == 0 ? known_round.asked->sequence : 0;
  return code;
}

bool set_up() {
  return go_ahead_with(launch, begin_round_or_single) && reply_early(known_round, 0.07F);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = set_up();
  static cudaEvent_t begun = nullptr;
  if (begun == nullptr) {
    cudaEventCreateWithFlags(&begun, cudaEventDisableTiming);
  }
  const Call call = call_of(context, tensors);
  known_round.note(context);
  if (!ready || known_round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  if (alone()) {
    return launch_alone(call);
  }
  int failed = 0;
  const bool is_begun = begun_for == known_round.asked->sequence;
  if (is_begun && known_round.at == 0) {
    cudaEventRecord(begun, apart);
    cudaStreamWaitEvent(call.stream, begun, 0);
  }
  if (!is_begun || known_round.at >= first_calls) {
    failed = launch(call, call.stream);
  }
  note_for_reply(call.stream, first_calls);
  return failed;
}
