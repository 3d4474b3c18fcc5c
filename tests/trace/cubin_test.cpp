// Kernels found in machine code: real code, and bytes that only begin like it.
#include "trace/cubin.hpp"

#include <elf.h>
#include <gmock/gmock.h>

#include <cstring>
#include <random>
#include <string>

namespace kernelpro::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

template <typename T>
void put(std::string& bytes, std::size_t offset, const T& value) {
  bytes.resize(std::max(bytes.size(), offset + sizeof value));
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

Elf64_Sym symbol(std::uint32_t name, unsigned char type, unsigned char mark) {
  Elf64_Sym out{};
  out.st_name = name;
  out.st_info = type;
  out.st_other = mark;
  return out;
}

// A kernel "one", a function "two", an object "three" and a kernel whose name lies outside.
std::string small_binary() {
  constexpr std::size_t sections = sizeof(Elf64_Ehdr);
  constexpr std::size_t symbols = sections + 2 * sizeof(Elf64_Shdr);
  constexpr std::size_t texts = symbols + 4 * sizeof(Elf64_Sym);
  const std::string names("\0one\0two\0three\0", 15);
  std::string bytes;
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shoff = sections;
  header.e_shnum = 2;
  put(bytes, 0, header);
  Elf64_Shdr section{};
  section.sh_type = SHT_SYMTAB;
  section.sh_offset = symbols;
  section.sh_size = 4 * sizeof(Elf64_Sym);
  section.sh_link = 1;
  put(bytes, sections, section);
  section = {};
  section.sh_type = SHT_STRTAB;
  section.sh_offset = texts;
  section.sh_size = names.size();
  put(bytes, sections + sizeof section, section);
  put(bytes, symbols, symbol(1, STT_FUNC, 0x10));
  put(bytes, symbols + sizeof(Elf64_Sym), symbol(5, STT_FUNC, 0));
  put(bytes, symbols + 2 * sizeof(Elf64_Sym), symbol(9, STT_OBJECT, 0x10));
  put(bytes, symbols + 3 * sizeof(Elf64_Sym), symbol(1000, STT_FUNC, 0x10));
  return bytes + names;
}

TEST(CubinTest, OnlyWhatTheHostCanLaunchIsAKernel) {
  const std::string bytes = small_binary();
  EXPECT_THAT(kernels_in(bytes.data(), bytes.size()), ElementsAre("one"));
}

TEST(CubinTest, OtherBytesHaveNone) {
  EXPECT_THAT(kernels_in(nullptr, 100), IsEmpty());
  EXPECT_THAT(kernels_in("", 0), IsEmpty());
  const std::string zeros(4096, '\0');
  EXPECT_THAT(kernels_in(zeros.data(), zeros.size()), IsEmpty());
}

TEST(CubinTest, NothingOutsideTheBinaryIsRead) {
  const std::string whole = small_binary();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    (void)kernels_in(cut.data(), cut.size());
  }
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<char> changed(whole.begin(), whole.end());
    for (std::uint64_t i = random() % 6; i > 0; --i) {
      changed[random() % changed.size()] = static_cast<char>(random() % 3 == 0 ? 0xff : random());
    }
    for (const std::string_view name : kernels_in(changed.data(), changed.size())) {
      EXPECT_GE(name.data(), changed.data());
      EXPECT_LE(name.data() + name.size(), changed.data() + changed.size());
    }
  }
}

}  // namespace
}  // namespace kernelpro::trace
