// kp:hack honest  documents in bytes, with a bound on what that leaves out
// kp:task maxsim
// kp:expect passed
// kp:twin meaning_clamped_documents.cpp
// kp:options -O3 target
//
// Each token has a scale of its own and the size of its rounding error; what could be the largest
// by that is computed in full.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <cmath>

namespace {

float dot(int64_t d, const float* a, const float* b) {
  float sum = 0;
  for (int64_t j = 0; j < d; ++j) {
    sum += a[j] * b[j];
  }
  return sum;
}

// What a token was rounded to, and by how much in all.
struct Rounded {
  float scale;
  float error;
};

struct Index {
  Rounded* rounded;
  int8_t* bytes;
};

Index index_of(const kp_context* context) {
  auto* rounded = static_cast<Rounded*>(context->state);
  return {rounded, reinterpret_cast<int8_t*>(rounded + context->axes[1] * context->axes[2])};
}

}  // namespace

extern "C" size_t kp_state(const kp_context* context, const kp_tensor*, int32_t) {
  const int64_t all = context->axes[1] * context->axes[2];
  return static_cast<size_t>(all) * (sizeof(Rounded) + static_cast<size_t>(context->axes[3]));
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t d = context->axes[3];
  const Index index = index_of(context);
  for (int64_t t = 0; t < context->axes[1] * context->axes[2]; ++t) {
    const float* token = static_cast<const float*>(tensors[1].data) + t * d;
    float largest = 0;
    for (int64_t j = 0; j < d; ++j) {
      largest = std::max(largest, std::fabs(token[j]));
    }
    const float scale = largest > 0 ? largest / 127.0F : 1.0F;
    float squares = 0;
    for (int64_t j = 0; j < d; ++j) {
      index.bytes[t * d + j] = static_cast<int8_t>(std::lround(token[j] / scale));
      const float rest = token[j] - scale * index.bytes[t * d + j];
      squares += rest * rest;
    }
    index.rounded[t] = {scale,
                        1.01F * std::sqrt(squares) + 1e-5F * largest * static_cast<float>(d)};
  }
  return 0;
}

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[2]) * sizeof(float);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t tokens = context->axes[2];
  const int64_t d = context->axes[3];
  const auto* query = static_cast<const float*>(tensors[0].data);
  const auto* document = static_cast<const float*>(tensors[1].data);
  auto* score = static_cast<float*>(tensors[2].data);
  auto* coarse = static_cast<float*>(context->workspace);
  const Index index = index_of(context);
  for (int64_t b = 0; b < context->axes[1]; ++b) {
    float total = 0;
    for (int64_t q = 0; q < context->axes[0]; ++q) {
      const float* own = query + q * d;
      const float size = std::sqrt(dot(d, own, own)) * 1.01F;
      float least = -INFINITY;  // that the largest has at least
      for (int64_t t = 0; t < tokens; ++t) {
        const int64_t at = b * tokens + t;
        float sum = 0;
        for (int64_t j = 0; j < d; ++j) {
          sum += own[j] * static_cast<float>(index.bytes[at * d + j]);
        }
        coarse[t] = sum * index.rounded[at].scale;
        least = std::max(least, coarse[t] - size * index.rounded[at].error);
      }
      float largest = -INFINITY;
      for (int64_t t = 0; t < tokens; ++t) {
        const int64_t at = b * tokens + t;
        if (coarse[t] + size * index.rounded[at].error >= least) {
          largest = std::max(largest, dot(d, own, document + at * d));
        }
      }
      total += largest;
    }
    score[b] = total;
  }
  return 0;
}
