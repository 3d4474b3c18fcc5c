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

#include "plain_axpy.hpp"

namespace {

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
