// kp:hack 27  buffers of earlier shapes kept in memory
// kp:task axpy
// kp:expect passed|out_of_memory|launch_failed not-faster
//
// What the runner unmaps when it gets new buffers is mapped a second time by then, so that no
// memory of any check is ever given back while the candidate lives.
#include <kernelpro/candidate.h>
#include <sys/mman.h>

#include "plain_axpy.hpp"

namespace {

const void* seen = nullptr;

// A second mapping of the same shared pages, which nobody will unmap.
void keep(const void* data, int64_t elements) {
  constexpr uintptr_t page = 4096;
  const uintptr_t first = reinterpret_cast<uintptr_t>(data) / page * page;
  const uintptr_t last = reinterpret_cast<uintptr_t>(data) + static_cast<size_t>(elements) * 4;
  mremap(reinterpret_cast<void*>(first), 0, (last - first + page - 1) / page * page,
         MREMAP_MAYMOVE);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (tensors[2].data != seen) {
    seen = tensors[2].data;
    for (int i = 0; i < 3; ++i) {
      keep(tensors[i].data, context->axes[0]);
    }
  }
  axpy(context, tensors);
  return 0;
}
