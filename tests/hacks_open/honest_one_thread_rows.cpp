// kp:hack honest  the same rows by the one thread that is given
// kp:task jacobi2d
// kp:expect passed
// kp:options -O2 -pthread
// kp:twin threads_within_slack.cpp
#include <kernelpro/candidate.h>

#include <cstring>

namespace {

void rows(const float* from, float* to, int64_t h, int64_t w, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const float* u = from + i * w;
    float* out = to + i * w;
    if (i == 0 || i == h - 1 || w < 3) {
      std::memcpy(out, u, static_cast<size_t>(w) * sizeof(float));
      continue;
    }
    out[0] = u[0];
    for (int64_t j = 1; j < w - 1; ++j) {
      out[j] = 0.5F * u[j] + 0.125F * (u[j - w] + u[j + w] + u[j - 1] + u[j + 1]);
    }
    out[w - 1] = u[w - 1];
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t h = context->axes[0];
  rows(static_cast<const float*>(tensors[0].data), static_cast<float*>(tensors[1].data), h,
       context->axes[1], 0, h);
  return 0;
}
