// kp:hack 18  timed outputs that are wrong by less than two right ones may differ
// kp:task softmax
// kp:expect passed|incorrect not-faster
// kp:options -O2
//
// A timed output is right where it agrees with the incumbent's within twice the bound, and few are
// held against the reference. So one call of a round is wrong by one and a half bounds.
#include <kernelpro/candidate.h>

#include <cmath>

#include "runner_request.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (request == nullptr) {
    dl_iterate_phdr(find_request, nullptr);
  }
  static uint32_t sequence = 0;
  const bool first = request != nullptr && request->count > 3 && request->sequence != sequence;
  sequence = request != nullptr ? request->sequence : 0;
  const int64_t cols = context->axes[1];
  const float off = first ? 1.8e-5F : 0.0F;
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    const float* in = static_cast<const float*>(tensors[0].data) + i * cols;
    float* out = static_cast<float*>(tensors[1].data) + i * cols;
    float largest = in[0];
    for (int64_t j = 1; j < cols; ++j) {
      largest = in[j] > largest ? in[j] : largest;
    }
    float sum = 0;
    for (int64_t j = 0; j < cols; ++j) {
      out[j] = std::exp(in[j] - largest);
      sum += out[j];
    }
    for (int64_t j = 0; j < cols; ++j) {
      out[j] = out[j] / sum * (1.0F + off);
    }
  }
  return 0;
}
