// kp:options -O3 target openmp
// The query is transposed, so that one document token's products with `lanes` query tokens grow
// side by side, and the largest is kept lane by lane. Documents are shared among the threads.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernelpro/candidate.h"

namespace {

constexpr int64_t vectors = 4;
constexpr int64_t lanes = 4 * vectors;
using Vector = float __attribute__((vector_size(16)));

int64_t groups_of(int64_t query_tokens) {
  return (query_tokens + lanes - 1) / lanes;
}

// Lanes past the last token are zeros.
void transpose_query(int64_t query_tokens, int64_t d, const float* query, float* transposed) {
  for (int64_t q = 0; q < groups_of(query_tokens) * lanes; ++q) {
    float* group = transposed + q / lanes * lanes * d + q % lanes;
    for (int64_t j = 0; j < d; ++j) {
      group[j * lanes] = q < query_tokens ? query[q * d + j] : 0.0F;
    }
  }
}

// Improves the largest products of one group with two tokens, which may be the same.
void visit(int64_t d, const float* group, const float* first, const float* second,
           Vector* largest) {
  Vector sum[2][vectors] = {};
  for (int64_t j = 0; j < d; ++j) {
    Vector part[vectors];
    std::memcpy(part, group + j * lanes, sizeof part);
    for (int64_t v = 0; v < vectors; ++v) {
      sum[0][v] += first[j] * part[v];
      sum[1][v] += second[j] * part[v];
    }
  }
  for (int64_t v = 0; v < vectors; ++v) {
    const Vector larger = sum[0][v] > sum[1][v] ? sum[0][v] : sum[1][v];
    largest[v] = larger > largest[v] ? larger : largest[v];
  }
}

// The sum of the largest products of `used` lanes of one group.
float group_score(int64_t used, int64_t tokens, int64_t d, const float* group,
                  const float* document) {
  Vector largest[vectors];
  std::fill_n(largest, vectors, Vector{} - __builtin_inff());
  for (int64_t t = 0; t < tokens; t += 2) {
    visit(d, group, document + t * d, document + std::min(t + 1, tokens - 1) * d, largest);
  }
  float line[lanes];
  std::memcpy(line, largest, sizeof line);
  float total = 0.0F;
  for (int64_t l = 0; l < used; ++l) {
    total += line[l];
  }
  return total;
}

}  // namespace

size_t kp_workspace(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  const int64_t floats = groups_of(context->axes[0]) * lanes * context->axes[3];
  return static_cast<size_t>(floats) * sizeof(float);
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3 || context->workspace_bytes < kp_workspace(context, tensors, count)) {
    return 1;
  }
  const int64_t query_tokens = context->axes[0];
  const int64_t documents = context->axes[1];
  const int64_t tokens = context->axes[2];
  const int64_t d = context->axes[3];
  const auto* document = static_cast<const float*>(tensors[1].data);
  auto* score = static_cast<float*>(tensors[2].data);
  auto* transposed = static_cast<float*>(context->workspace);
  transpose_query(query_tokens, d, static_cast<const float*>(tensors[0].data), transposed);
#pragma omp parallel for schedule(static) num_threads(context->threads)
  for (int64_t b = 0; b < documents; ++b) {
    float total = 0.0F;
    for (int64_t first = 0; first < query_tokens; first += lanes) {
      total += group_score(std::min(lanes, query_tokens - first), tokens, d, transposed + first * d,
                           document + b * tokens * d);
    }
    score[b] = total;
  }
  return 0;
}
