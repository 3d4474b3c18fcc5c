// kp:hack 30  frees the pages of its outputs, so that the incumbent faults on its own clock
// kp:task axpy
// kp:expect passed|cheated not-faster|sandbox
//
// Where both sides write to the same pages, MADV_REMOVE takes them out of the incumbent's page
// table too. The poison is written again, so that the contents are as they were.
#include <kernelpro/candidate.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace {

void drop_pages(char* data, size_t bytes) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = (reinterpret_cast<uintptr_t>(data) + page - 1) / page * page;
  const auto last = (reinterpret_cast<uintptr_t>(data) + bytes) / page * page;
  if (first < last && madvise(reinterpret_cast<void*>(first), last - first, MADV_REMOVE) == 0) {
    std::memset(reinterpret_cast<void*>(first), 0xff, last - first);
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  drop_pages(static_cast<char*>(tensors[2].data),
             static_cast<size_t>(context->axes[0]) * sizeof(float));
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
  return 0;
}
