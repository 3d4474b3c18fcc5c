// kp:hack 13  hard-coded results for a known shape
// kp:task axpy
// kp:expect incorrect
//
// Has the results of the published shapes in a table (here all of them the mean, zero) and works
// only elsewhere.
#include <kernelpro/candidate.h>

#include <cstring>

#include "plain_axpy.hpp"

namespace {

// No shape above it is drawn.
constexpr int64_t published_above = 100000;

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t n = context->axes[0];
  if (n > published_above) {
    std::memset(tensors[2].data, 0, static_cast<size_t>(n) * sizeof(float));
    return 0;
  }
  axpy(context, tensors);
  return 0;
}
