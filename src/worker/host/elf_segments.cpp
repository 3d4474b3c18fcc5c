#include "worker/host/elf_segments.hpp"

#include <elf.h>

#include <cstring>
#include <fstream>

namespace kernelpro {

namespace {

template <typename Value>
bool read_at(std::ifstream& file, std::uint64_t offset, Value& value) {
  char bytes[sizeof(Value)];
  file.seekg(static_cast<std::streamoff>(offset));
  if (!file.read(bytes, sizeof bytes)) {
    return false;
  }
  std::memcpy(&value, bytes, sizeof value);
  return true;
}

}  // namespace

std::int64_t ElfSegments::address_of(std::int64_t offset) const {
  for (const Segment& one : executable) {
    if (offset >= one.offset && offset - one.offset < one.bytes) {
      return offset - one.offset + one.address;
    }
  }
  return -1;
}

Result<ElfSegments> read_elf_segments(const std::string& path) {
  const Error unreadable =
      make_error(ErrorKind::bad_input, "this is no 64-bit program or library", path);
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr head{};
  if (!file || !read_at(file, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64) {
    return unreadable;
  }
  ElfSegments out;
  out.arm = head.e_machine == EM_AARCH64;
  for (std::uint64_t i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!read_at(file, head.e_phoff + i * sizeof segment, segment)) {
      return unreadable;
    }
    constexpr std::uint64_t most = std::uint64_t{1} << 47U;
    const bool sane = segment.p_offset < most && segment.p_filesz < most && segment.p_vaddr < most;
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && sane) {
      out.executable.push_back({static_cast<std::int64_t>(segment.p_offset),
                                static_cast<std::int64_t>(segment.p_filesz),
                                static_cast<std::int64_t>(segment.p_vaddr)});
      out.code_bytes += static_cast<std::int64_t>(segment.p_filesz);
    }
  }
  return out;
}

}  // namespace kernelpro
