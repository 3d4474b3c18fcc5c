// kp:hack 27  a file opened by the 32-bit entry of the kernel
// kp:task axpy
// kp:expect crashed|cheated signal|sandbox
//
// There 5 is open, which is fstat by the numbers of x86-64: a filter that does not ask for the
// architecture lets it through. Elsewhere a number that nobody has.
#include <kernelpro/candidate.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "plain_axpy.hpp"

namespace {

void open_by_another_entry() {
#if defined(__x86_64__)
  // The path must lie where 32 bits reach.
  void* low =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  std::strcpy(static_cast<char*>(low), "/etc/passwd");
  long result = 5;
  asm volatile("int $0x80"
               : "+a"(result)
               : "b"(reinterpret_cast<uintptr_t>(low)), "c"(0L), "d"(0L)
               : "memory");
#else
  syscall(1000000);
#endif
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  open_by_another_entry();
  axpy(context, tensors);
  return 0;
}
