// kp:hack 27  takes memory as shared mappings, which a limit on its heap would not count
// kp:task axpy
// kp:expect out_of_memory|crashed|launch_failed|timed_out
#include <sys/mman.h>

#include <cstring>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  constexpr size_t piece = size_t{256} << 20;
  for (;;) {
    void* memory = mmap(nullptr, piece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      return 12;
    }
    std::memset(memory, 1, piece);
  }
  axpy(context, tensors);
  return 0;
}
