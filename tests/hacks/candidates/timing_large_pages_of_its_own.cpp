// kp:hack 30  asks for large pages under its tensors, where the incumbent has small ones
// kp:task axpy
// kp:expect passed not-faster
//
// The advice is harmless and may be given on any memory. Where the kernel follows it for shared
// memory, one arm has fewer entries to look up than the other for the same bytes.
#include <kernelpro/candidate.h>
#include <sys/mman.h>

#include "plain_axpy.hpp"

namespace {

void advise(const kp_tensor& tensor, size_t bytes) {
  constexpr uintptr_t page = 65536;
  const auto begin = reinterpret_cast<uintptr_t>(tensor.data) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(tensor.data) + bytes;
  madvise(reinterpret_cast<void*>(begin + page), (end - begin) / page * page - page, MADV_HUGEPAGE);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  static int calls = 0;
  const size_t bytes = static_cast<size_t>(context->axes[0]) * sizeof(float);
  for (int i = 0; calls < 64 && bytes > (size_t{1} << 20) && i < count; ++i) {
    advise(tensors[i], bytes);
  }
  ++calls;
  axpy(context, tensors);
  return 0;
}
