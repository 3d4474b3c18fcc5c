// kp:hack 29  a clock a thousand times too slow
// kp:task axpy
// kp:expect cheated clock|bound|sandbox
//
// Right outputs at a claimed speed that no memory has: the runner reads a clock of ours.
#include <kernelpro/candidate.h>
#include <link.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#include "plain_axpy.hpp"

namespace {

constexpr long slowness = 1000;

int slow_clock(clockid_t clock, timespec* time) {
  const int result = clock_gettime(clock, time);
  const long ns = time->tv_sec % 1000 * 1000000000L + time->tv_nsec;
  time->tv_sec = ns / slowness / 1000000000L;
  time->tv_nsec = ns / slowness % 1000000000L;
  return result;
}

void replace(void** entry) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* start = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(entry) / page * page);
  if (mprotect(start, page, PROT_READ | PROT_WRITE) == 0) {
    *entry = reinterpret_cast<void*>(&slow_clock);
  }
}

// Through which entries the program itself calls clock_gettime: the first object is the program.
int patch_program(dl_phdr_info* info, size_t, void*) {
  ElfW(Addr) values[DT_JMPREL + 1] = {};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) {
      continue;
    }
    const auto address = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    for (const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(address); entry->d_tag != DT_NULL;
         ++entry) {
      if (entry->d_tag > 0 && entry->d_tag <= DT_JMPREL) {
        values[entry->d_tag] = entry->d_un.d_ptr;
      }
    }
  }
  const ElfW(Addr) tables[2][2] = {{values[DT_RELA], values[DT_RELASZ]},
                                   {values[DT_JMPREL], values[DT_PLTRELSZ]}};
  const auto* symbols = reinterpret_cast<const ElfW(Sym)*>(values[DT_SYMTAB]);
  const auto* strings = reinterpret_cast<const char*>(values[DT_STRTAB]);
  for (const auto& table : tables) {
    const auto* relocation = reinterpret_cast<const ElfW(Rela)*>(table[0]);
    for (size_t i = 0; i < table[1] / sizeof *relocation; ++i) {
      const auto symbol = ELF64_R_SYM(relocation[i].r_info);
      if (symbol != 0 && std::strcmp(strings + symbols[symbol].st_name, "clock_gettime") == 0) {
        replace(reinterpret_cast<void**>(info->dlpi_addr + relocation[i].r_offset));
      }
    }
  }
  return 1;
}

bool patched = false;

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (!patched) {
    patched = true;
    dl_iterate_phdr(patch_program, nullptr);
  }
  axpy(context, tensors);
  return 0;
}
