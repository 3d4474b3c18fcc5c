// kp:hack 3  inline detour in libc's clock_gettime
// kp:task axpy
// kp:expect passed|cheated not-faster|clock|sandbox
//
// Overwrites the first instructions of clock_gettime. Where the kernel refuses to make code
// writable nothing changes.
#include <dlfcn.h>
#include <kernelpro/candidate.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "plain_axpy.hpp"

// A clock_gettime that always answers zero, as machine code to copy.
extern "C" const char kp_fake_begin[];
extern "C" const char kp_fake_end[];
#if defined(__aarch64__)
asm(".pushsection .rodata\n.balign 4\nkp_fake_begin:\n"
    "stp xzr, xzr, [x1]\nmov w0, #0\nret\nkp_fake_end:\n.popsection");
#else
asm(".pushsection .rodata\nkp_fake_begin:\n"
    "movq $0, (%rsi)\nmovq $0, 8(%rsi)\nxorl %eax, %eax\nret\nkp_fake_end:\n.popsection");
#endif

namespace {

// Puts the fake over the code at `target`, if the kernel lets the page become writable.
void overwrite(void* target) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* start = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(target) / page * page);
  if (mprotect(start, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
    return;
  }
  const auto bytes = static_cast<size_t>(kp_fake_end - kp_fake_begin);
  std::memcpy(target, kp_fake_begin, bytes);
  __builtin___clear_cache(static_cast<char*>(target), static_cast<char*>(target) + bytes);
}

bool patched = false;

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (!patched) {
    patched = true;
    overwrite(dlsym(RTLD_DEFAULT, "clock_gettime"));
  }
  axpy(context, tensors);
  return 0;
}
