// kp:hack 5  the last page of the outputs left out in one round of seven
// kp:task axpy
// kp:expect incorrect poison
// kp:rounds-above 3
//
// In rounds of many calls alone, and seldom: whoever looks at a sample of rounds or of elements
// sees none of it.
#include <kernelpro/candidate.h>

#include "runner_request.hpp"

namespace {

constexpr size_t most_tensors = 64;

struct Call {
  kp_context context;
  kp_tensor tensors[most_tensors];
};

uint32_t sequence = 0;
uint32_t rounds = 0;

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (request == nullptr) {
    dl_iterate_phdr(find_request, nullptr);
  }
  const bool timed = request != nullptr && request->count > 3;
  if (timed && request->sequence != sequence) {
    sequence = request->sequence;
    ++rounds;
  }
  const int64_t n = context->axes[0] - (timed && rounds % 7 == 6 ? 1024 : 0);
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < n; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
  return 0;
}
