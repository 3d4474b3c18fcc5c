// Takes the place of a function in every loaded object that calls it.
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace {

// Writes `replacement` over every entry through which a loaded object calls `name`.
struct Patch {
  const char* name;
  void* replacement;
};

void write_entry(void** entry, void* value) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* start = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(entry) / page * page);
  if (mprotect(start, page, PROT_READ | PROT_WRITE) == 0) {
    *entry = value;
  }
}

int patch_object(dl_phdr_info* info, size_t, void* data) {
  const auto* patch = static_cast<const Patch*>(data);
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    }
  }
  if (dynamic == nullptr || std::strstr(info->dlpi_name, "vdso") != nullptr) {
    return 0;
  }
  ElfW(Addr) symbols = 0;
  ElfW(Addr) strings = 0;
  ElfW(Addr) tables[2] = {0, 0};
  size_t sizes[2] = {0, 0};
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    switch (dynamic->d_tag) {
      case DT_SYMTAB:
        symbols = dynamic->d_un.d_ptr;
        break;
      case DT_STRTAB:
        strings = dynamic->d_un.d_ptr;
        break;
      case DT_JMPREL:
        tables[0] = dynamic->d_un.d_ptr;
        break;
      case DT_PLTRELSZ:
        sizes[0] = dynamic->d_un.d_val;
        break;
      case DT_RELA:
        tables[1] = dynamic->d_un.d_ptr;
        break;
      case DT_RELASZ:
        sizes[1] = dynamic->d_un.d_val;
        break;
      default:
        break;
    }
  }
  for (int t = 0; t < 2; ++t) {
    const auto* relocation = reinterpret_cast<const ElfW(Rela)*>(tables[t]);
    for (size_t i = 0; i < sizes[t] / sizeof(*relocation); ++i) {
      const auto* symbol =
          reinterpret_cast<const ElfW(Sym)*>(symbols) + ELF64_R_SYM(relocation[i].r_info);
      const auto* name = reinterpret_cast<const char*>(strings) + symbol->st_name;
      if (ELF64_R_SYM(relocation[i].r_info) != 0 && std::strcmp(name, patch->name) == 0) {
        write_entry(reinterpret_cast<void**>(info->dlpi_addr + relocation[i].r_offset),
                    patch->replacement);
      }
    }
  }
  return 0;
}

}  // namespace
