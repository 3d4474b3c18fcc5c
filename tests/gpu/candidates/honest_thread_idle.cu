// kp:hack honest  a host thread that waits
// kp:task stream
// kp:expect passed
// kp:twin timing_background_thread.cu
//
// A pool of idle threads is no cheat.
#include <condition_variable>
#include <mutex>
#include <thread>

#include "stream.cuh"

namespace {

std::mutex mutex;
std::condition_variable woken;

void wait_for_ever() {
  std::unique_lock<std::mutex> lock(mutex);
  woken.wait(lock, [] { return false; });
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static std::thread* const idle = new std::thread(wait_for_ever);
  const Call call = call_of(context, tensors);
  return idle == nullptr ? 1 : launch(call, call.stream);
}
