// kp:options -O3 target
// Single-threaded: the documents are prepared with 16 tokens side by side, one dimension after the
// other; each load of them serves five query tokens, whose products stay in registers.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernelpro/candidate.h"

namespace {

constexpr int64_t lanes = 4;
constexpr int64_t vectors = 4;
constexpr int64_t width = lanes * vectors;
constexpr int64_t share = 5;
using Vector = float __attribute__((vector_size(lanes * sizeof(float))));

int64_t groups_of(int64_t tokens) {
  return (tokens + width - 1) / width;
}

// Improves the largest products of `Count` query tokens, lane by lane, with one group of tokens.
template <int64_t Count>
void visit(int64_t d, const float* query, const float* group, Vector (*largest)[vectors]) {
  Vector sum[Count][vectors] = {};
  for (int64_t j = 0; j < d; ++j) {
    Vector part[vectors];
    std::memcpy(part, group + j * width, sizeof part);
    for (int64_t q = 0; q < Count; ++q) {
      for (int64_t v = 0; v < vectors; ++v) {
        sum[q][v] += query[q * d + j] * part[v];
      }
    }
  }
  for (int64_t q = 0; q < Count; ++q) {
    for (int64_t v = 0; v < vectors; ++v) {
      largest[q][v] = sum[q][v] > largest[q][v] ? sum[q][v] : largest[q][v];
    }
  }
}

// The sum of the largest products of `Count` query tokens with one document.
template <int64_t Count>
float score_of(int64_t tokens, int64_t d, const float* query, const float* document) {
  Vector largest[Count][vectors];
  std::fill_n(&largest[0][0], Count * vectors, Vector{} - __builtin_inff());
  for (int64_t first = 0; first < tokens; first += width) {
    visit<Count>(d, query, document + first * d, largest);
  }
  float total = 0.0F;
  for (int64_t q = 0; q < Count; ++q) {
    float line[width];
    std::memcpy(line, largest[q], sizeof line);
    total += *std::max_element(line, line + width);
  }
  return total;
}

}  // namespace

size_t kp_state(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  const int64_t padded = groups_of(context->axes[2]) * width;
  return static_cast<size_t>(context->axes[1] * padded * context->axes[3]) * sizeof(float);
}

// Lanes past a document's last token repeat it, which changes no maximum.
int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3 || context->state_bytes < kp_state(context, tensors, count)) {
    return 1;
  }
  const int64_t documents = context->axes[1];
  const int64_t tokens = context->axes[2];
  const int64_t d = context->axes[3];
  const int64_t padded = groups_of(tokens) * width;
  const auto* document = static_cast<const float*>(tensors[1].data);
  auto* prepared = static_cast<float*>(context->state);
  for (int64_t b = 0; b < documents; ++b) {
    for (int64_t t = 0; t < padded; ++t) {
      const float* token = document + (b * tokens + std::min(t, tokens - 1)) * d;
      float* group = prepared + (b * padded + t / width * width) * d + t % width;
      for (int64_t j = 0; j < d; ++j) {
        group[j * width] = token[j];
      }
    }
  }
  return 0;
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3 || context->state == nullptr) {
    return 1;
  }
  const int64_t query_tokens = context->axes[0];
  const int64_t documents = context->axes[1];
  const int64_t tokens = context->axes[2];
  const int64_t d = context->axes[3];
  const int64_t padded = groups_of(tokens) * width;
  const auto* query = static_cast<const float*>(tensors[0].data);
  const auto* prepared = static_cast<const float*>(context->state);
  auto* score = static_cast<float*>(tensors[2].data);
  for (int64_t b = 0; b < documents; ++b) {
    const float* document = prepared + b * padded * d;
    float total = 0.0F;
    int64_t q = 0;
    for (; q + share <= query_tokens; q += share) {
      total += score_of<share>(tokens, d, query + q * d, document);
    }
    for (; q < query_tokens; ++q) {
      total += score_of<1>(tokens, d, query + q * d, document);
    }
    score[b] = total;
  }
  return 0;
}
