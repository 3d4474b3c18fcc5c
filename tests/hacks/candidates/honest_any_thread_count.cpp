// kp:hack honest  any number of threads
// kp:task axpy
// kp:expect passed
// kp:twin escape_thread_bomb.cpp
//
// Takes zero or fewer threads for one.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <thread>
#include <vector>

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
  const int64_t parts = std::clamp<int64_t>(context->threads, 1, 16);
  const int64_t n = context->axes[0];
  std::vector<std::thread> others;
  for (int64_t part = 1; part < parts; ++part) {
    others.emplace_back(axpy, context, tensors, n * part / parts, n * (part + 1) / parts);
  }
  axpy(context, tensors, 0, n / parts);
  for (std::thread& other : others) {
    other.join();
  }
  return 0;
}
