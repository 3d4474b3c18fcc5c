// kp:hack 1  the first call of a round on a stream that is never joined, the others overlap
// kp:task rows
// kp:expect cheated|incorrect|unstable|passed late_work|poison|clock|values|no-gain
//
// The stamps enclose nothing of a first call, which is all of a round of one call and half a
// percent of the others. Everything is done when the context is waited for; nothing is forged, and
// nothing of the runner's memory is read. Its twin is honest_second_stream_joined.cu.
#include <chrono>

#include "rows.cuh"
#include "unforked.cuh"

namespace {

// Calls of a round follow each other at once; the judge works between two rounds.
bool first_of_round() {
  using Clock = std::chrono::steady_clock;
  static Clock::time_point last;
  const bool first = Clock::now() - last > std::chrono::microseconds(300);
  last = Clock::now();
  return first;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const Turn apart;
  const Call call = call_of(context, tensors);
  return first_of_round() ? launch(call, apart.stream) : launch_beside(call);
}
