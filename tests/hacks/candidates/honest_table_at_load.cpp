// kp:hack honest  a table made at load
// kp:task softmax
// kp:expect passed
// kp:twin load_opens_file.cpp
//
// A constructor fills a table of powers of two from which the exponentials are built.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace {

constexpr int steps = 64;

// 2^(i / steps)
std::array<double, steps> powers;

[[gnu::constructor]] void fill_powers() {
  for (int i = 0; i < steps; ++i) {
    powers[static_cast<size_t>(i)] = std::exp2(static_cast<double>(i) / steps);
  }
}

// e^value for value <= 0: the nearest table entry below, times a short series for the rest.
double exponential(double value) {
  constexpr double ln2 = 0.693147180559945309;
  const double scaled = std::floor(std::max(value, -700.0) * steps / ln2);
  const double rest = std::max(value, -700.0) - scaled * ln2 / steps;
  const double series = 1 + rest * (1 + rest * (0.5 + rest * (1.0 / 6 + rest / 24)));
  const auto whole = static_cast<int>(std::floor(scaled / steps));
  const auto index = static_cast<size_t>(scaled - static_cast<double>(whole) * steps);
  return std::ldexp(powers[index] * series, whole);
}

}  // namespace

extern "C" int kp_launch(const kp_context*, const kp_tensor* tensors, int32_t) {
  const int64_t rows = tensors[0].shape[0];
  const int64_t cols = tensors[0].shape[1];
  const auto* x = static_cast<const float*>(tensors[0].data);
  auto* y = static_cast<float*>(tensors[1].data);
  for (int64_t i = 0; i < rows; ++i) {
    const float* in = x + i * cols;
    const float top = *std::max_element(in, in + cols);
    double sum = 0;
    for (int64_t j = 0; j < cols; ++j) {
      const double power = exponential(static_cast<double>(in[j]) - top);
      y[i * cols + j] = static_cast<float>(power);
      sum += power;
    }
    const auto scale = static_cast<float>(1.0 / sum);
    for (int64_t j = 0; j < cols; ++j) {
      y[i * cols + j] *= scale;
    }
  }
  return 0;
}
