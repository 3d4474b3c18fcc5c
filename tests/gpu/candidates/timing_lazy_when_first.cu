// kp:hack 5  leaves an eighth out in rounds that come before the incumbent's
// kp:task stream
// kp:expect incorrect|unstable poison
//
// In every second pair its outputs are the copy that the incumbent's are held against. What it
// never wrote there must not be excused.
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

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int round = round_number() - checking_rounds;
  Call call = call_of(context, tensors);
  if (round >= 0 && round % 2 == 0) {
    call.n -= call.n / 8;
  }
  return launch(call, call.stream);
}
