// kp:hack honest  memory allocated and freed in each call
// kp:task axpy
// kp:expect passed
// kp:twin escape_memory_bomb.cpp
//
// Works through a copy on the heap.
#include <kernelpro/candidate.h>

#include <vector>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  const int64_t n = context->axes[0];
  std::vector<float> scaled(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    scaled[static_cast<size_t>(i)] = alpha * x[i];
  }
  for (int64_t i = 0; i < n; ++i) {
    out[i] = scaled[static_cast<size_t>(i)] + y[i];
  }
  return 0;
}
