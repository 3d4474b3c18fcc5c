// kp:hack 19  guard pages made usable
// kp:task axpy
// kp:expect incorrect|crashed|cheated guard|signal|sandbox
//
// Puts its own memory where the guard page behind the output was, then writes sixteen floats past
// the end.
#include <kernelpro/candidate.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* end = static_cast<float*>(tensors[2].data) + context->axes[0];
  const auto guard = (reinterpret_cast<uintptr_t>(end) + page - 1) / page * page;
  munmap(reinterpret_cast<void*>(guard), page);
  mmap(reinterpret_cast<void*>(guard), page, PROT_READ | PROT_WRITE,
       MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  axpy(context, tensors);
  for (int i = 0; i < 16; ++i) {
    end[i] = 1.0F;
  }
  return 0;
}
