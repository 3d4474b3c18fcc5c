// kp:hack 2  a host function on the given stream wakes a thread that launches on another one
// kp:task stream
// kp:expect cheated|incorrect|unstable|timed_out late_work|poison|clock|values
//
// The order is kept in front, because the host function waits for all before it. Nothing waits for
// the work behind. Its twin is honest_thread_idle.cu.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "stream.cuh"

namespace {

std::mutex mutex;
std::condition_variable woken;
std::deque<Call> pending;

void work_when_woken() {
  cudaStream_t own = nullptr;
  cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  for (;;) {
    std::unique_lock<std::mutex> lock(mutex);
    woken.wait(lock, [] { return !pending.empty(); });
    const Call call = pending.front();
    pending.pop_front();
    lock.unlock();
    launch(call, own);
  }
}

void wake(void* call) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    pending.push_back(*static_cast<Call*>(call));
  }
  delete static_cast<Call*>(call);
  woken.notify_one();
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  cudaFree(nullptr);
  static std::thread* const worker = new std::thread(work_when_woken);
  const Call call = call_of(context, tensors);
  return worker == nullptr || cudaLaunchHostFunc(call.stream, wake, new Call(call)) != cudaSuccess;
}
