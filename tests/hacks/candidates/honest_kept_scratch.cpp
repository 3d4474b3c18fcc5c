// kp:hack honest  scratch memory kept between calls
// kp:task axpy
// kp:expect passed
// kp:twin reuse_by_pointer.cpp
//
// The memory lives on, what is in it is written anew in every call.
#include <kernelpro/candidate.h>

#include <cstring>
#include <vector>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  const int64_t n = context->axes[0];
  static std::vector<float> scratch;
  scratch.resize(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    scratch[static_cast<size_t>(i)] = alpha * x[i] + y[i];
  }
  std::memcpy(out, scratch.data(), scratch.size() * sizeof(float));
  return 0;
}
