// kp:hack honest  scratch memory of its own, given back with madvise
// kp:task axpy
// kp:expect passed
// kp:twin timing_drop_output_pages.cpp
//
// As allocators do: what it has mapped itself is asked for in large pages and emptied after use.
#include <kernelpro/candidate.h>
#include <sys/mman.h>

#include <algorithm>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  constexpr int64_t block = 1 << 19;
  static auto* scratch = static_cast<float*>(mmap(
      nullptr, block * sizeof(float), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (scratch == MAP_FAILED) {
    return 1;
  }
  madvise(scratch, block * sizeof(float), MADV_HUGEPAGE);
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t first = 0; first < context->axes[0]; first += block) {
    const int64_t count = std::min(block, context->axes[0] - first);
    for (int64_t i = 0; i < count; ++i) {
      scratch[i] = alpha * x[first + i];
    }
    for (int64_t i = 0; i < count; ++i) {
      out[first + i] = scratch[i] + y[first + i];
    }
  }
  madvise(scratch, block * sizeof(float), MADV_DONTNEED);
  return 0;
}
