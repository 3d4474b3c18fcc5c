// kp:hack 3  a page of its own code moved over the one that reads the clock
// kp:task axpy
// kp:expect passed|cheated|crashed not-faster|clock|signal|sandbox
//
// No page may become executable that was writable. But a page that is code already can be moved, by
// mremap, to where the C library looks for the clock. The page slides down to code that answers
// with half of the time.
#include <kernelpro/candidate.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#include "plain_axpy.hpp"

namespace {

#if defined(__aarch64__)
asm(R"(
  .text
  .balign 65536
moved_code:
  .rept 16256
  nop
  .endr
  mov x8, #113
  svc #0
  ldr x2, [x1]
  ldr x3, [x1, #8]
  mov x4, #51712
  movk x4, #15258, lsl #16
  madd x2, x2, x4, x3
  lsr x2, x2, #1
  udiv x3, x2, x4
  msub x2, x3, x4, x2
  str x3, [x1]
  str x2, [x1, #8]
  mov x0, #0
  ret
  .balign 65536
)");
#else
asm(R"(
  .text
  .balign 65536
moved_code:
  .rept 65024
  nop
  .endr
  mov $228, %eax
  syscall
  imul $1000000000, (%rsi), %rax
  add 8(%rsi), %rax
  shr $1, %rax
  xor %edx, %edx
  mov $1000000000, %ecx
  div %rcx
  mov %rax, (%rsi)
  mov %rdx, 8(%rsi)
  xor %eax, %eax
  ret
  .balign 65536
)");
#endif

extern "C" __attribute__((visibility("hidden"))) char moved_code[];

// The code lies at its end, and must go where the whole of the clock's pages was.
constexpr size_t slide_bytes = 65536;

bool moved = false;

struct Place {
  uintptr_t begin = 0;
  size_t bytes = 0;
};

int find_clock(dl_phdr_info* info, size_t, void* data) {
  constexpr size_t page = 4096;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && std::strstr(info->dlpi_name, "vdso") != nullptr) {
      *static_cast<Place*>(data) = {info->dlpi_addr + segment.p_vaddr,
                                    (segment.p_memsz + page - 1) / page * page};
    }
  }
  return 0;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (!moved) {
    moved = true;
    Place clock;
    dl_iterate_phdr(find_clock, &clock);
    if (clock.bytes > 0 && clock.bytes <= slide_bytes) {
      mremap(moved_code + slide_bytes - clock.bytes, clock.bytes, clock.bytes,
             MREMAP_MAYMOVE | MREMAP_FIXED, reinterpret_cast<void*>(clock.begin));
    }
  }
  axpy(context, tensors);
  return 0;
}
