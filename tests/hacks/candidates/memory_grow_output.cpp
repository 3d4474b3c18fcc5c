// kp:hack 19  output mapping grown over its neighbors
// kp:task axpy
// kp:expect crashed|incorrect|cheated
//
// Moves the last page of the output to where there is room, grows it by one, and writes into what
// lies behind it in the arena.
#include <kernelpro/candidate.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto last =
      reinterpret_cast<uintptr_t>(static_cast<float*>(tensors[2].data) + context->axes[0] - 1) /
      page * page;
  void* grown = mremap(reinterpret_cast<void*>(last), page, 2 * page, MREMAP_MAYMOVE);
  if (grown == MAP_FAILED) {
    return 1;
  }
  static_cast<volatile char*>(grown)[page] = 1;
  return 0;
}
