// kp:options -O3 target openmp
// Each thread takes consecutive documents with an equal share of the entries. Four entries at a
// time are divided and summed as one vector.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernelpro/candidate.h"

namespace {

constexpr int32_t lanes = 4;
using Vector = float __attribute__((vector_size(lanes * sizeof(float))));

// The first document that starts at or after the `part`-th of `parts` equal shares of the entries.
int64_t first_document(int64_t documents, const int32_t* starts, int64_t part, int64_t parts) {
  const int64_t entry = starts[documents] * part / parts;
  return std::lower_bound(starts, starts + documents, entry) - starts;
}

float score_of(int32_t first, int32_t last, float half, const int32_t* term, const float* tf,
               const float* weight) {
  Vector sums = {};
  int32_t p = first;
  for (; p + lanes <= last; p += lanes) {
    Vector count;
    std::memcpy(&count, tf + p, sizeof count);
    const Vector weights = {weight[term[p]], weight[term[p + 1]], weight[term[p + 2]],
                            weight[term[p + 3]]};
    sums += weights * count / (count + half);
  }
  float sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  for (; p < last; ++p) {
    sum += weight[term[p]] * tf[p] / (tf[p] + half);
  }
  return sum;
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 6) {
    return 1;
  }
  const int64_t documents = context->axes[0];
  const auto k = static_cast<float>(context->scalars[0]);
  const auto* starts = static_cast<const int32_t*>(tensors[0].data);
  const auto* term = static_cast<const int32_t*>(tensors[1].data);
  const auto* tf = static_cast<const float*>(tensors[2].data);
  const auto* norm = static_cast<const float*>(tensors[3].data);
  const auto* weight = static_cast<const float*>(tensors[4].data);
  auto* score = static_cast<float*>(tensors[5].data);
  const int64_t parts = context->threads;
#pragma omp parallel for schedule(static, 1) num_threads(context->threads)
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t last =
        part + 1 == parts ? documents : first_document(documents, starts, part + 1, parts);
    for (int64_t d = first_document(documents, starts, part, parts); d < last; ++d) {
      score[d] = score_of(starts[d], starts[d + 1], k * norm[d], term, tf, weight);
    }
  }
  return 0;
}
