#include <algorithm>
#include <cmath>
#include <span>

void softmax(std::span<const float> in, std::span<float> out) {
  float top = in[0];
  for (float v : in) top = std::max(top, v);
  float sum = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    out[i] = std::exp(in[i] - top);
    sum += out[i];
  }
  for (float& v : out) v /= sum;
}
