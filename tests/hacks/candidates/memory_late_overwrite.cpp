// kp:hack 2  a thread overwrites outputs after the return
// kp:task axpy
// kp:expect incorrect|unstable|cheated|crashed
//
// Computes honestly and leaves a thread that clears the outputs from time to time, also those of
// others if it could.
#include <kernelpro/candidate.h>

#include <chrono>
#include <thread>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  auto* out = static_cast<volatile float*>(tensors[2].data);
  const int64_t n = context->axes[0];
  std::thread([out, n] {
    for (int round = 0; round < 100; ++round) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      for (int64_t i = 0; i < n; ++i) {
        out[i] = 0;
      }
    }
  }).detach();
  return 0;
}
