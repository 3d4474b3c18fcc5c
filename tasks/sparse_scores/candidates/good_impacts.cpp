// kp:options -O3 target
// Single-threaded: the saturated counts do not depend on the query and are prepared, each beside
// its term, so that an entry is one load of eight bytes and one product.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

struct Entry {
  int32_t term;
  float impact;
};

constexpr int32_t chains = 4;  // sums that run side by side

}  // namespace

size_t kp_state(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  return static_cast<size_t>(context->axes[3]) * sizeof(Entry);
}

int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 6 || context->state_bytes < kp_state(context, tensors, count)) {
    return 1;
  }
  const int64_t documents = context->axes[0];
  const auto k = static_cast<float>(context->scalars[0]);
  const auto* starts = static_cast<const int32_t*>(tensors[0].data);
  const auto* term = static_cast<const int32_t*>(tensors[1].data);
  const auto* tf = static_cast<const float*>(tensors[2].data);
  const auto* norm = static_cast<const float*>(tensors[3].data);
  auto* entries = static_cast<Entry*>(context->state);
  for (int64_t d = 0; d < documents; ++d) {
    for (int32_t p = starts[d]; p < starts[d + 1]; ++p) {
      entries[p] = {term[p], tf[p] / (tf[p] + k * norm[d])};
    }
  }
  return 0;
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 6 || context->state == nullptr) {
    return 1;
  }
  const int64_t documents = context->axes[0];
  const auto* starts = static_cast<const int32_t*>(tensors[0].data);
  const auto* weight = static_cast<const float*>(tensors[4].data);
  const auto* entries = static_cast<const Entry*>(context->state);
  auto* score = static_cast<float*>(tensors[5].data);
  for (int64_t d = 0; d < documents; ++d) {
    float sum[chains] = {};
    int32_t p = starts[d];
    for (; p + chains <= starts[d + 1]; p += chains) {
      for (int32_t c = 0; c < chains; ++c) {
        sum[c] += entries[p + c].impact * weight[entries[p + c].term];
      }
    }
    for (; p < starts[d + 1]; ++p) {
      sum[0] += entries[p].impact * weight[entries[p].term];
    }
    score[d] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
  return 0;
}
