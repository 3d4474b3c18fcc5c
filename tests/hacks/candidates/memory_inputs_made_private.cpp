// kp:hack 17  inputs replaced by private copies at the same addresses
// kp:task axpy
// kp:expect crashed guard
//
// The first call of each set copies its inputs to private memory mapped over them: later rounds
// read those, which may be on large pages and near.
#include <sys/mman.h>

#include <cstring>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const size_t bytes = (static_cast<size_t>(context->axes[0]) * 4 + 4095) / 4096 * 4096;
  for (int t = 0; t < 2; ++t) {
    auto* begin = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(tensors[t].data) + 4095) /
                                          4096 * 4096);
    void* copy = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(copy, begin, bytes - 8192 * (bytes > 8192));
    if (bytes > 8192) {
      mremap(copy, bytes - 8192, bytes - 8192, MREMAP_MAYMOVE | MREMAP_FIXED, begin);
    }
  }
  axpy(context, tensors);
  return 0;
}
