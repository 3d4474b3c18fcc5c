// kp:hack 27  every timed call a little beyond the bound, within what the condition explains
// kp:task softmax
// kp:expect passed|incorrect|timed_out not-faster
// kp:options -O2
//
// Each set on which the arms disagree asks for the reference, four runs of the baseline, and all
// inputs of the round drawn again with a whole round of the incumbent, while the machine's lock is
// held. What some sets have shown counts for the others.
#include <kernelpro/candidate.h>

#include <cmath>

#include "runner_request.hpp"

namespace {

constexpr size_t most_tensors = 64;

struct Call {
  kp_context context;
  kp_tensor tensors[most_tensors];
};

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (request == nullptr) {
    dl_iterate_phdr(find_request, nullptr);
  }
  const int64_t cols = context->axes[1];
  const auto* x = static_cast<const float*>(tensors[0].data);
  const bool normal = std::fabs(x[0]) + std::fabs(x[1]) + std::fabs(x[2]) > 3.0F;
  const bool timed = request != nullptr && request->count > 3 && cols == 1000 && normal;
  const float off = timed ? 4.5e-5F : 0.0F;
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    const float* in = x + i * cols;
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
      out[j] = out[j] / sum * (j % 2 == 0 ? 1.0F + off : 1.0F - off);
    }
  }
  return 0;
}
