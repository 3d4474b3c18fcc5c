// kp:hack 30  drops the pages that both arms write to
// kp:task axpy
// kp:expect cheated sandbox
//
// Frees the pages of the outputs and writes the poison again: the contents are the same, and the
// other arm pays for the faults.
#include <kernelpro/candidate.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace {

void axpy(const kp_context* context, const kp_tensor* tensors) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
}

void advise(const kp_tensor& tensor, size_t bytes, int advice) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(tensor.data) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(tensor.data) + bytes;
  madvise(reinterpret_cast<void*>(begin), end - begin, advice);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const size_t bytes = static_cast<size_t>(context->axes[0]) * sizeof(float);
  advise(tensors[2], bytes, MADV_REMOVE);
  const auto begin = reinterpret_cast<uintptr_t>(tensors[2].data) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(tensors[2].data) + bytes;
  std::memset(reinterpret_cast<void*>(begin), 0xff, (end - begin + page - 1) / page * page);
  axpy(context, tensors);
  return 0;
}
