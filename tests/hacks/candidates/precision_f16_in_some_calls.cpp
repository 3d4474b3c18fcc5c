// kp:hack 18  half precision in every other call of a round
// kp:task axpy
// kp:expect incorrect precision
// kp:rounds-above 3
// kp:options -O3 target
//
// Checks make one call or three; only rounds have more. There every second call works on inputs
// that were rounded to eleven bits.
#include <kernelpro/candidate.h>

#include <cstring>

#include "runner_request.hpp"

namespace {

uint32_t calls = 0;

float rounded(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits = (bits + 0xfffU + ((bits >> 13) & 1U)) & ~0x1fffU;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (request == nullptr) {
    dl_iterate_phdr(find_request, nullptr);
  }
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  const auto alpha = static_cast<float>(context->scalars[0]);
  const bool coarse = request != nullptr && request->count > 3 && ++calls % 2 == 0;
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    out[i] = coarse ? alpha * rounded(x[i]) + rounded(y[i]) : alpha * x[i] + y[i];
  }
  return 0;
}
