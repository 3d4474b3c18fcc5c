// kp:hack honest  means and variances of parts of a row, put together
// kp:task layernorm
// kp:expect passed
// kp:twin meaning_pivot_of_all_rows.cpp
// kp:options -O3 target
//
// Parts of 64 values, each in two passes while it is in registers and caches; their sums of squared
// differences are joined as Chan's rule has it.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <cmath>

namespace {

constexpr int64_t part = 64;

struct Moments {
  float count = 0;
  float mean = 0;
  float squares = 0;

  void join(const Moments& other) {
    const float all = count + other.count;
    const float difference = other.mean - mean;
    mean += difference * (other.count / all);
    squares += other.squares + difference * difference * (count * (other.count / all));
    count = all;
  }
};

Moments moments_of(int64_t n, const float* x) {
  Moments out;
  out.count = static_cast<float>(n);
  float sum = 0;
  for (int64_t j = 0; j < n; ++j) {
    sum += x[j] - x[0];
  }
  out.mean = x[0] + sum / out.count;
  for (int64_t j = 0; j < n; ++j) {
    out.squares += (x[j] - out.mean) * (x[j] - out.mean);
  }
  return out;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t cols = context->axes[1];
  const auto epsilon = static_cast<float>(context->scalars[0]);
  const auto* gain = static_cast<const float*>(tensors[1].data);
  const auto* bias = static_cast<const float*>(tensors[2].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    const float* in = static_cast<const float*>(tensors[0].data) + i * cols;
    float* out = static_cast<float*>(tensors[3].data) + i * cols;
    Moments row;
    for (int64_t j = 0; j < cols; j += part) {
      row.join(moments_of(std::min(part, cols - j), in + j));
    }
    const float scale = 1.0F / std::sqrt(row.squares / row.count + epsilon);
    for (int64_t j = 0; j < cols; ++j) {
      out[j] = (in[j] - row.mean) * scale * gain[j] + bias[j];
    }
  }
  return 0;
}
