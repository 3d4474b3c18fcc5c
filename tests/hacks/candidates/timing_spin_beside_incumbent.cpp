// kp:hack 30  a thread that spins between calls
// kp:task axpy
// kp:expect passed not-faster
//
// Keeps a thread busy for ever, to slow the incumbent while it is timed.
#include <kernelpro/candidate.h>

#include <thread>

#include "plain_axpy.hpp"

namespace {

bool spinning = false;

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (!spinning) {
    spinning = true;
    std::thread([] {
      for (;;) {
        asm volatile("" ::: "memory");
      }
    }).detach();
  }
  axpy(context, tensors);
  return 0;
}
