// kp:hack 33  thread of a constructor computes late
// kp:task axpy
// kp:expect cheated|incorrect late_work|poison
//
// A thread older than every call picks up what the calls leave behind, two milliseconds later.
#include <kernelpro/candidate.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "plain_axpy.hpp"

namespace {

const kp_context* pending_context = nullptr;
std::atomic<const kp_tensor*> pending = nullptr;

[[gnu::constructor]] void at_load() {
  std::thread([] {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      if (const kp_tensor* tensors = pending.exchange(nullptr); tensors != nullptr) {
        axpy(pending_context, tensors);
      }
    }
  }).detach();
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  pending_context = context;
  pending = tensors;
  return 0;
}
