// kp:hack honest  documents turned once, in floats
// kp:task maxsim
// kp:expect passed
// kp:twin meaning_never_all_negative.cpp
// kp:options -O3 target
#include "documents.hpp"

extern "C" size_t kp_state(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(tokens_in_lanes(context) * context->axes[1] * context->axes[3]) * 4;
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t tokens = context->axes[2];
  const int64_t wide = tokens_in_lanes(context);
  const int64_t d = context->axes[3];
  const auto* document = static_cast<const float*>(tensors[1].data);
  auto* floats = static_cast<float*>(context->state);
  for (int64_t b = 0; b < context->axes[1]; ++b) {
    for (int64_t t = 0; t < wide; ++t) {
      const float* token = document + (b * tokens + (t < tokens ? t : tokens - 1)) * d;
      for (int64_t j = 0; j < d; ++j) {
        floats[(b * d + j) * wide + t] = token[j];
      }
    }
  }
  return 0;
}

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[0]) * 4;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t queries = context->axes[0];
  const int64_t wide = tokens_in_lanes(context);
  const int64_t d = context->axes[3];
  auto* largest = static_cast<float*>(context->workspace);
  for (int64_t b = 0; b < context->axes[1]; ++b) {
    largest_products(queries, wide, d, static_cast<const float*>(tensors[0].data),
                     static_cast<const float*>(context->state) + b * d * wide, -INFINITY, largest);
    float total = 0;
    for (int64_t q = 0; q < queries; ++q) {
      total += largest[q];
    }
    static_cast<float*>(tensors[2].data)[b] = total;
  }
  return 0;
}
