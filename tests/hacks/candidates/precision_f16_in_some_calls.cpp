// kp:hack 18  half precision in every other call of a round
// kp:task gemm
// kp:expect incorrect precision
// kp:undisturbed
// kp:options -O3 target
//
// Checks make one call or three; only rounds have more. There every second call works on inputs
// that were rounded to eleven bits.
#include <kernelpro/candidate.h>

#include <cstring>
#include <vector>

#include "runner_request.hpp"

namespace {

constexpr size_t most_tensors = 64;

struct Call {
  kp_context context;
  kp_tensor tensors[most_tensors];
};

void gemm(const kp_context* context, const float* a, const float* b, float* c) {
  const int64_t m = context->axes[0];
  const int64_t n = context->axes[1];
  const int64_t k = context->axes[2];
  const auto alpha = static_cast<float>(context->scalars[0]);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      c[i * n + j] = 0;
    }
    for (int64_t p = 0; p < k; ++p) {
      const float factor = alpha * a[i * k + p];
      for (int64_t j = 0; j < n; ++j) {
        c[i * n + j] += factor * b[p * n + j];
      }
    }
  }
}

uint32_t calls = 0;

float rounded(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits = (bits + 0xfffU + ((bits >> 13) & 1U)) & ~0x1fffU;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

std::vector<float> rounded(const void* data, int64_t count) {
  const auto* values = static_cast<const float*>(data);
  std::vector<float> out(values, values + count);
  for (float& value : out) {
    value = rounded(value);
  }
  return out;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (request == nullptr) {
    dl_iterate_phdr(find_request, nullptr);
  }
  const auto* a = static_cast<const float*>(tensors[0].data);
  const auto* b = static_cast<const float*>(tensors[1].data);
  auto* c = static_cast<float*>(tensors[2].data);
  if (request != nullptr && request->count > 3 && ++calls % 2 == 0) {
    gemm(context, rounded(a, context->axes[0] * context->axes[2]).data(),
         rounded(b, context->axes[1] * context->axes[2]).data(), c);
  } else {
    gemm(context, a, b, c);
  }
  return 0;
}
