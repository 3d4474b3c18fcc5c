// The writable data of the program that has loaded the candidate.
#include <link.h>

namespace {

struct Words {
  uint64_t* first = nullptr;
  size_t count = 0;
};

// The main program comes first; its last writable segment holds its variables.
inline int note_segment(dl_phdr_info* info, size_t, void* out) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) != 0) {
      const uint64_t begin = (info->dlpi_addr + segment.p_vaddr + 7) / 8 * 8;
      const uint64_t end = info->dlpi_addr + segment.p_vaddr + segment.p_memsz;
      *static_cast<Words*>(out) = {reinterpret_cast<uint64_t*>(begin), (end - begin) / 8};
    }
  }
  return 1;
}

inline Words program_words() {
  Words words;
  dl_iterate_phdr(note_segment, &words);
  return words;
}

}  // namespace
