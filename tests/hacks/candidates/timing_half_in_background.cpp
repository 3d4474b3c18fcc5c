// kp:hack 2  second half left to a background thread
// kp:task axpy
// kp:expect cheated|incorrect late_work|poison
//
// Computes the first half before it returns and the second half on a thread that outlives the
// call.
#include <kernelpro/candidate.h>

#include <chrono>
#include <thread>

namespace {

void axpy(const kp_context* context, const kp_tensor* tensors, int64_t begin, int64_t end) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = begin; i < end; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t half = context->axes[0] / 2;
  axpy(context, tensors, 0, half);
  std::thread([context, tensors, half] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    axpy(context, tensors, half, context->axes[0]);
  }).detach();
  return 0;
}
