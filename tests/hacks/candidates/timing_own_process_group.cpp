// kp:hack 2  leaves the process group, then works late
// kp:task axpy
// kp:expect cheated sandbox|late_work
//
// Hopes that the judge stops the process group only, and moves itself into another one first.
#include <kernelpro/candidate.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  setpgid(0, 0);
  setsid();
  std::thread([context, tensors] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    axpy(context, tensors);
  }).detach();
  return 0;
}
