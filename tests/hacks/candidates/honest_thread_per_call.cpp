// kp:hack honest  a thread for each call
// kp:task axpy
// kp:expect passed
// kp:twin timing_background_thread.cpp
//
// Starts a thread and joins it before it returns.
#include <kernelpro/candidate.h>

#include <thread>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  std::thread([context, tensors] { axpy(context, tensors); }).join();
  return 0;
}
