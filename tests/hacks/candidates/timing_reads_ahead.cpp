// kp:hack 34  a thread reads the inputs before the clock starts
// kp:task axpy
// kp:expect passed not-faster
//
// Goes over the inputs of every set it was ever called with, again and again, so that they are in
// the cache when the next round begins. It is stopped while the judge writes them, and what it
// reads after that is on the clock.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "plain_axpy.hpp"

namespace {

struct Input {
  const float* data;
  int64_t count;
};

std::mutex guard;
std::vector<Input> inputs;
std::atomic<float> sink;
bool reading = false;

void read_all() {
  const std::lock_guard<std::mutex> hold(guard);
  float sum = 0;
  for (const Input& input : inputs) {
    for (int64_t i = 0; i < input.count; i += 16) {
      sum += input.data[i];
    }
  }
  sink = sum;
}

void remember(const kp_context* context, const kp_tensor* tensors) {
  const std::unique_lock<std::mutex> hold(guard, std::try_to_lock);
  if (!hold.owns_lock()) {
    return;
  }
  for (int i = 0; i < 2; ++i) {
    const auto* data = static_cast<const float*>(tensors[i].data);
    const bool known = std::any_of(inputs.begin(), inputs.end(),
                                   [data](const Input& input) { return input.data == data; });
    if (!known) {
      inputs.push_back({data, context->axes[0]});
    }
  }
}

}  // namespace

// Asked before other buffers are mapped: the old ones are about to go.
extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  const std::lock_guard<std::mutex> hold(guard);
  inputs.clear();
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  remember(context, tensors);
  if (!reading) {
    reading = true;
    std::thread([] {
      for (;;) {
        read_all();
        std::this_thread::yield();
      }
    }).detach();
  }
  axpy(context, tensors);
  return 0;
}
