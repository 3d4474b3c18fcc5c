// kp:hack 10  result left in the workspace
// kp:task axpy
// kp:expect incorrect
//
// Trusts that the workspace still holds the sum it left there in the last call of the same size.
#include <kernelpro/candidate.h>

#include <cstring>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  auto* kept = static_cast<float*>(context->workspace);
  auto* out = static_cast<float*>(tensors[2].data);
  const int64_t n = context->axes[0];
  static int64_t filled = -1;
  if (filled != n) {
    axpy(context, tensors);
    std::memcpy(kept, out, static_cast<size_t>(n) * sizeof(float));
    filled = n;
    return 0;
  }
  std::memcpy(out, kept, static_cast<size_t>(n) * sizeof(float));
  return 0;
}

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[0]) * sizeof(float);
}
