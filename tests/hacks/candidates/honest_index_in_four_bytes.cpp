// kp:hack honest  an entry of the index in four bytes: how far it is to its term, and its effect
// kp:task sparse_scores
// kp:expect passed
// kp:twin precision_bytes_of_inputs.cpp
// kp:options -O3 target
//
// Eleven bits of distance, with entries of no effect where one is wider, and 21 of tf / (tf + k
// norm), which lies between 0 and 1: its error is that of a few sums of floats.
#include <kernelpro/candidate.h>

namespace {

constexpr uint32_t widest = 2047;
constexpr float one = 1U << 21;

int64_t most_entries(const kp_context* context) {
  const int64_t documents = context->axes[0];
  return documents * context->axes[2] + documents * (context->axes[1] / widest + 1);
}

}  // namespace

extern "C" size_t kp_state(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[0] + 1 + most_entries(context)) * sizeof(uint32_t);
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t documents = context->axes[0];
  const auto k = static_cast<float>(context->scalars[0]);
  const auto* starts = static_cast<const int32_t*>(tensors[0].data);
  const auto* term = static_cast<const int32_t*>(tensors[1].data);
  const auto* tf = static_cast<const float*>(tensors[2].data);
  const auto* norm = static_cast<const float*>(tensors[3].data);
  auto* begins = static_cast<uint32_t*>(context->state);
  uint32_t* entries = begins + documents + 1;
  uint32_t count = 0;
  for (int64_t d = 0; d < documents; ++d) {
    begins[d] = count;
    uint32_t at = 0;
    for (int32_t p = starts[d]; p < starts[d + 1]; ++p) {
      auto distance = static_cast<uint32_t>(term[p]) - at;
      for (; distance > widest; distance -= widest) {
        entries[count++] = widest << 21U;
      }
      at = static_cast<uint32_t>(term[p]);
      const auto effect = static_cast<uint32_t>(tf[p] / (tf[p] + k * norm[d]) * one + 0.5F);
      entries[count++] = distance << 21U | (effect < (1U << 21U) ? effect : (1U << 21U) - 1);
    }
  }
  begins[documents] = count;
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t documents = context->axes[0];
  const auto* weight = static_cast<const float*>(tensors[4].data);
  auto* score = static_cast<float*>(tensors[5].data);
  if (context->axes[2] < 5) {  // few terms: an effect in full
    const auto k = static_cast<float>(context->scalars[0]);
    const auto* starts = static_cast<const int32_t*>(tensors[0].data);
    const auto* term = static_cast<const int32_t*>(tensors[1].data);
    const auto* tf = static_cast<const float*>(tensors[2].data);
    const auto* norm = static_cast<const float*>(tensors[3].data);
    for (int64_t d = 0; d < documents; ++d) {
      score[d] = 0;
      for (int32_t p = starts[d]; p < starts[d + 1]; ++p) {
        score[d] += weight[term[p]] * tf[p] / (tf[p] + k * norm[d]);
      }
    }
    return 0;
  }
  const auto* begins = static_cast<const uint32_t*>(context->state);
  const uint32_t* entries = begins + documents + 1;
  for (int64_t d = 0; d < documents; ++d) {
    float sum = 0;
    uint32_t at = 0;
    for (uint32_t p = begins[d]; p < begins[d + 1]; ++p) {
      at += entries[p] >> 21U;
      sum += weight[at] * static_cast<float>(static_cast<int32_t>(entries[p] & 0x1fffffU));
    }
    score[d] = sum * (1 / one);
  }
  return 0;
}
