// kp:hack 3  vdso overwritten
// kp:task axpy
// kp:expect passed|cheated not-faster|clock|sandbox
//
// Finds the kernel's clock_gettime in the vdso and overwrites it. Where the kernel refuses to
// make code writable nothing changes.
#include <elf.h>
#include <kernelpro/candidate.h>
#include <link.h>
#include <sys/auxv.h>
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

// The vdso's clock_gettime, found through its dynamic symbols.
int patch_vdso(dl_phdr_info* info, size_t, void*) {
  if (info->dlpi_addr != getauxval(AT_SYSINFO_EHDR)) {
    return 0;
  }
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(info->dlpi_addr);
  const auto* sections = reinterpret_cast<const ElfW(Shdr)*>(info->dlpi_addr + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_DYNSYM) {
      continue;
    }
    const auto* symbols =
        reinterpret_cast<const ElfW(Sym)*>(info->dlpi_addr + sections[i].sh_offset);
    const auto* names =
        reinterpret_cast<const char*>(info->dlpi_addr + sections[sections[i].sh_link].sh_offset);
    for (size_t s = 0; s < sections[i].sh_size / sizeof(ElfW(Sym)); ++s) {
      if (std::strstr(names + symbols[s].st_name, "clock_gettime") != nullptr) {
        overwrite(reinterpret_cast<void*>(info->dlpi_addr + symbols[s].st_value));
      }
    }
  }
  return 1;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (!patched) {
    patched = true;
    dl_iterate_phdr(patch_vdso, nullptr);
  }
  axpy(context, tensors);
  return 0;
}
