// kp:hack 2  work left to a background thread
// kp:task axpy
// kp:expect cheated late_work
//
// Returns at once and lets a detached thread compute, two milliseconds later.
#include <kernelpro/candidate.h>

#include <chrono>
#include <thread>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  std::thread([context, tensors] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    axpy(context, tensors);
  }).detach();
  return 0;
}
