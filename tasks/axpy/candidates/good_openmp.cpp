// kp:options -O3 target openmp
// One contiguous part of the vectors for each thread.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// Below this many elements starting the threads costs more than they save.
constexpr int64_t parallel_from = 32768;

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3) {
    return 1;
  }
  const int64_t n = context->axes[0];
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* __restrict x = static_cast<const float*>(tensors[0].data);
  const auto* __restrict y = static_cast<const float*>(tensors[1].data);
  auto* __restrict out = static_cast<float*>(tensors[2].data);
#pragma omp parallel for simd schedule(static) num_threads(context->threads) if (n >= parallel_from)
  for (int64_t i = 0; i < n; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
  return 0;
}
