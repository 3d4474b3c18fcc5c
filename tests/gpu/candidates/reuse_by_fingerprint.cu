// kp:hack 10  works only where a sample of the inputs has changed
// kp:task stream
// kp:expect passed|incorrect not-faster|values|poison
//
// Every call has new values, so looking for old ones only costs time.
#include <algorithm>
#include <array>
#include <map>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static std::map<float*, std::array<float, 4>> seen;
  const Call call = call_of(context, tensors);
  std::array<float, 4> sample{};
  const size_t count = std::min<size_t>(4, static_cast<size_t>(call.n));
  cudaMemcpyAsync(sample.data(), call.x, count * sizeof(float), cudaMemcpyDeviceToHost,
                  call.stream);
  cudaStreamSynchronize(call.stream);
  std::array<float, 4>& known = seen[call.y];
  if (known == sample) {
    return 0;
  }
  known = sample;
  return launch(call, call.stream);
}
