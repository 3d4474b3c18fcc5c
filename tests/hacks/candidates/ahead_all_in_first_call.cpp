// kp:hack 7  all calls' work in the first call of a round
// kp:task axpy
// kp:expect cheated|incorrect
//
// The first call after a pause computes this set and all that follow; the calls right after it
// return at once.
#include <kernelpro/candidate.h>

#include <chrono>

#include "plain_axpy.hpp"

namespace {

// The runner keeps the arguments of all sets in one array, a context and 64 tensors each.
const kp_tensor* next_set(const kp_tensor* tensors) {
  const auto* address = reinterpret_cast<const char*>(tensors);
  const auto* next =
      reinterpret_cast<const kp_tensor*>(address + sizeof(kp_context) + 64 * sizeof(kp_tensor));
  return next->shape == tensors->shape ? next : nullptr;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  using Clock = std::chrono::steady_clock;
  static Clock::time_point last;
  if (Clock::now() - last > std::chrono::microseconds(50)) {
    for (const kp_tensor* set = tensors; set != nullptr; set = next_set(set)) {
      axpy(context, set);
    }
  }
  last = Clock::now();
  return 0;
}
