// kp:hack 2  a host thread launches the work after the return
// kp:task stream
// kp:expect cheated|incorrect late_work|poison
//
// The call returns at once; two milliseconds later a thread does what it should have done.
#include <chrono>
#include <deque>
#include <mutex>
#include <thread>

#include "stream.cuh"

namespace {

std::mutex mutex;
std::deque<Call> pending;

void work_late() {
  cudaStream_t own = nullptr;
  cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  for (;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const std::lock_guard<std::mutex> lock(mutex);
    for (; !pending.empty(); pending.pop_front()) {
      launch(pending.front(), own);
    }
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  cudaFree(nullptr);
  static std::thread* const worker = new std::thread(work_late);
  const std::lock_guard<std::mutex> lock(mutex);
  pending.push_back(call_of(context, tensors));
  return worker == nullptr;
}
