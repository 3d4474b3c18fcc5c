// kp:hack honest  as fast as incumbent as it was when judged
// kp:task softmax
// kp:expect passed
// kp:options -O3 target -ffast-math
// kp:twin incumbent_slower_than_judged.cpp
#include <kernelpro/candidate.h>

#include <cmath>
#include <cstring>

namespace {

inline float fine_exp(float t) {
  t = t < -87.0F ? -87.0F : t;
  const float k = std::floor(t * 1.44269504F + 0.5F);
  const float r = (t - k * 0.693359375F) + k * 2.12194440e-4F;
  float p = 8.297653765e-03F;
  p = p * r + 4.191539113e-02F;
  p = p * r + 1.666757480e-01F;
  p = p * r + 4.999889477e-01F;
  p = p * r + 9.999996920e-01F;
  p = p * r + 1.000000072e+00F;
  const int32_t bits = (static_cast<int32_t>(k) + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return p * scale;
}

inline float short_exp(float t) {
  t = t < -87.0F ? -87.0F : t;
  const float k = std::floor(t * 1.44269504F + 0.5F);
  const float r = (t - k * 0.693359375F) + k * 2.12194440e-4F;
  float p = 4.145860051e-02F;
  p = p * r + 1.679091178e-01F;
  p = p * r + 5.000435898e-01F;
  p = p * r + 9.999634022e-01F;
  p = p * r + 9.999992614e-01F;
  const int32_t bits = (static_cast<int32_t>(k) + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return p * scale;
}

template <typename Exp>
void softmax(int64_t rows, int64_t cols, const float* x, float* y, Exp e) {
  for (int64_t i = 0; i < rows; ++i) {
    const float* in = x + i * cols;
    float* out = y + i * cols;
    float largest = in[0];
    for (int64_t j = 1; j < cols; ++j) {
      largest = in[j] > largest ? in[j] : largest;
    }
    float sum = 0;
    for (int64_t j = 0; j < cols; ++j) {
      out[j] = e(in[j] - largest);
      sum += out[j];
    }
    const float by = 1.0F / sum;
    for (int64_t j = 0; j < cols; ++j) {
      out[j] *= by;
    }
  }
}

// Rounding may add up over a row: the longer it is, the fewer terms keep the bound.
void within_bound(int64_t rows, int64_t cols, const float* x, float* y) {
  if (cols < 500) {
    softmax(rows, cols, x, y, fine_exp);
  } else {
    softmax(rows, cols, x, y, short_exp);
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  within_bound(context->axes[0], context->axes[1], static_cast<const float*>(tensors[0].data),
               static_cast<float*>(tensors[1].data));
  return 0;
}
