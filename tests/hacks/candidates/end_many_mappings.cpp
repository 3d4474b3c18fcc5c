// kp:hack 27  so many mappings that ending takes long
// kp:task axpy
// kp:expect passed|crashed|out_of_memory not-faster|signal
//
// As many areas of memory as a process may have, each with a page in use: stopping is quick, dying
// is not, and the incumbent is timed right after.
#include <kernelpro/candidate.h>
#include <sys/mman.h>

#include "plain_axpy.hpp"

namespace {

bool done = false;

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (!done) {
    done = true;
    for (int i = 0; i < 30000; ++i) {
      void* at = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (at == MAP_FAILED) {
        break;
      }
      *static_cast<volatile char*>(at) = 1;
      mprotect(static_cast<char*>(at) + 4096, 4096, PROT_NONE);
    }
  }
  axpy(context, tensors);
  return 0;
}
