// kp:hack 21  infinities in rounds that come before the incumbent's
// kp:task stream
// kp:expect incorrect
//
// As the lazy one, with outputs written and not finite.
#include <chrono>

#include "stream.cuh"

namespace {

// Counts rounds: calls of one follow each other at once, the judge works between two.
int round_number() {
  using Clock = std::chrono::steady_clock;
  static Clock::time_point last;
  static int rounds = -1;
  const Clock::time_point now = Clock::now();
  if (now - last > std::chrono::microseconds(300)) {
    ++rounds;
  }
  last = Clock::now();
  return rounds;
}

constexpr int checking_rounds = 15;

__global__ void spoil(Call call) {
  call.y[threadIdx.x] = INFINITY;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int round = round_number() - checking_rounds;
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  if (round >= 0 && round % 2 == 0) {
    spoil<<<1, 1, 0, call.stream>>>(call);
  }
  return failed;
}
