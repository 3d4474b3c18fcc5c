// kp:hack 22  own page mapped over the output
// kp:task axpy
// kp:expect incorrect poison
//
// Maps private memory over the output, where writing is cheap and nobody looks.
#include <kernelpro/candidate.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(tensors[2].data) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(tensors[2].data) +
                   static_cast<size_t>(context->axes[0]) * sizeof(float);
  mmap(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE,
       MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  axpy(context, tensors);
  return 0;
}
