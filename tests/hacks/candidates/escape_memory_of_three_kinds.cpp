// kp:hack 27  takes its heap, its share of workspaces and stacks of threads to their limits at once
// kp:task axpy
// kp:expect out_of_memory|crashed|timed_out|passed not-faster
//
// Heap and workspace have limits of their own. Memory that may grow downwards counts as a stack and
// not as a heap: what is left of the second limit is filled with that, and kept.
#include <pthread.h>
#include <sys/mman.h>

#include "plain_axpy.hpp"

namespace {

void fill(int kind) {
  for (size_t bytes = size_t{256} << 20; bytes >= size_t{1} << 20; bytes /= 2) {
    for (;;) {
      void* more = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
      if (more == MAP_FAILED) {
        break;
      }
      for (size_t at = 0; at < bytes; at += 4096) {
        static_cast<volatile char*>(more)[at] = 1;
      }
    }
  }
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  return context->axes[0] > 1000000 ? size_t{16} << 20 : 64;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static bool filled = false;
  if (!filled && context->axes[0] > 1000000) {
    filled = true;
    fill(MAP_PRIVATE);
    fill(MAP_PRIVATE | MAP_GROWSDOWN);
  }
  axpy(context, tensors);
  return 0;
}
