// kp:hack 34  a thread computes ahead of the call
// kp:task stream
// kp:expect incorrect|cheated|unstable|passed|crashed not-faster
//
// It knows the buffers of earlier calls and keeps their answers ready. The runner is stopped while
// inputs are drawn, so what it has is old.
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "stream.cuh"

namespace {

std::mutex mutex;
std::map<float*, std::pair<Call, float*>> known;

void compute_ahead() {
  cudaStream_t own = nullptr;
  cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  for (;;) {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      for (auto& [y, entry] : known) {
        Call call = entry.first;
        call.y = entry.second;
        launch(call, own);
      }
    }
    cudaStreamSynchronize(own);
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  cudaFree(nullptr);
  static std::thread* const ahead = new std::thread(compute_ahead);
  const Call call = call_of(context, tensors);
  const size_t bytes = static_cast<size_t>(call.n) * sizeof(float);
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = known.find(call.y);
  if (found != known.end() && found->second.first.n == call.n) {
    return cudaMemcpyAsync(call.y, found->second.second, bytes, cudaMemcpyDeviceToDevice,
                           call.stream);
  }
  known.clear();
  float* answer = nullptr;
  cudaMalloc(&answer, bytes);
  known[call.y] = {call, answer};
  return ahead == nullptr ? 1 : launch(call, call.stream);
}
