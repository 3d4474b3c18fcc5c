// kp:hack 27  all addresses of the GPU reserved
// kp:task stream
// kp:expect passed|cheated|launch_failed|out_of_memory|crashed status|clock|device|no-gain|sandbox
//
// They are those of its own process: the runner can map nothing there any more, which is the
// candidate's fault. Others have addresses of their own. Its twin is the baseline.
#include "driver.cuh"
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const int pieces = [] {
    const auto reserve = driver_function<decltype(&cuMemAddressReserve)>("cuMemAddressReserve");
    int count = 0;
    for (size_t bytes = size_t{1} << 46; bytes >= size_t{1} << 30; bytes /= 2) {
      CUdeviceptr at = 0;
      for (int i = 0; i < 64 && reserve(&at, bytes, 0, 0, 0) == CUDA_SUCCESS; ++i) {
        ++count;
      }
    }
    return count;
  }();
  const Call call = call_of(context, tensors);
  return pieces == 0 ? 1 : launch(call, call.stream);
}
