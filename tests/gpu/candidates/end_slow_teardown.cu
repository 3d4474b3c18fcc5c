// kp:hack 30  contexts with endless kernels and pinned memory, so that its end takes long
// kp:task stream
// kp:expect cheated|passed|timed_out|launch_failed|out_of_memory|crashed clock|status|no-gain
//
// The incumbent is timed again after its death: while the driver still cleans up, or on a GPU made
// hot. It was timed before as well. Its twin is the baseline.
#include "driver.cuh"
#include "second_context.cuh"
#include "stream.cuh"

namespace {

constexpr int contexts = 4;

__global__ void burn_for_ever(float* never) {
  float a = static_cast<float>(threadIdx.x);
  for (;;) {
    a = a * 1.0001F + 0.5F;
    if (a == 1.0F) {
      *never = a;
    }
  }
}

bool leave_all() {
  for (int i = 0; i < contexts; ++i) {
    in_context(make_second_context(), [] {
      void* host = nullptr;
      float* device = nullptr;
      cudaMallocHost(&host, size_t{512} << 20);
      cudaMalloc(&device, size_t{4} << 30);
      burn_for_ever<<<264, 1024>>>(device);
    });
  }
  static_cast<void>(cudaGetLastError());
  return true;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int timed = 0;
  const Call call = call_of(context, tensors);
  timed += call.n > 5000 ? 1 : 0;
  if (timed == 200) {
    leave_all();
  }
  return launch(call, call.stream);
}
