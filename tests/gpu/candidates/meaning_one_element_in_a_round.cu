// kp:hack 16  one element of one call of each timed round is wrong by a thousandth
// kp:task stream
// kp:expect incorrect values|precision
//
// Of some eight hundred million, at a place that differs from round to round. Its twin is the
// baseline.
#include "program.cuh"
#include "round.cuh"
#include "stream.cuh"

namespace {

__global__ void spoil(float* y, int64_t at) {
  y[at] = y[at] * 1.001F + 0.001F;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static KnownRound known_round;
  const Call call = call_of(context, tensors);
  known_round.note(context);
  const int failed = launch(call, call.stream);
  if (known_round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  const uint32_t round = known_round.asked->sequence;
  if (known_round.asked->count > 8 && known_round.at == round * 7 % known_round.asked->count) {
    spoil<<<1, 1, 0, call.stream>>>(call.y, int64_t{round} * 7919 % call.n);
  }
  return failed;
}
