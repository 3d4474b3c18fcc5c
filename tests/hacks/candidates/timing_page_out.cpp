// kp:hack 30  has shared pages paged out, cooled and collapsed
// kp:task axpy
// kp:expect cheated sandbox
//
// Advice that changes the pages themselves, and so what the other arm finds.
#include <kernelpro/candidate.h>
#include <sys/mman.h>
#include <unistd.h>

#include <initializer_list>

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
  constexpr int collapse = 25;
  const size_t bytes = static_cast<size_t>(context->axes[0]) * sizeof(float);
  axpy(context, tensors);
  for (const int advice : {MADV_COLD, MADV_PAGEOUT, collapse}) {
    advise(tensors[0], bytes, advice);
  }
  return 0;
}
