// kp:hack 32  sleeps in every tenth call
// kp:task axpy
// kp:expect passed not-faster
//
// A nap of a millisecond in every tenth call, which a median of calls would hide.
#include <kernelpro/candidate.h>

#include <chrono>
#include <thread>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int calls = 0;
  if (++calls % 10 == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  axpy(context, tensors);
  return 0;
}
