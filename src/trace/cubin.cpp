#include "trace/cubin.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>

namespace kernelpro::trace {
namespace {

// The bit by which a symbol says that the host can launch it.
constexpr unsigned char entry_mark = 0x10;

class Binary {
 public:
  Binary(const void* data, std::size_t bytes)
      : bytes_(static_cast<const char*>(data), data == nullptr ? 0 : bytes) {}

  template <typename T>
  [[nodiscard]] std::optional<T> at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) {
      return std::nullopt;
    }
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  // Empty when it lies outside.
  [[nodiscard]] std::string_view part(std::uint64_t offset, std::uint64_t length) const {
    const bool inside = offset <= bytes_.size() && length <= bytes_.size() - offset;
    return inside ? bytes_.substr(offset, length) : std::string_view();
  }

 private:
  std::string_view bytes_;
};

std::optional<Elf64_Shdr> section(const Binary& binary, const Elf64_Ehdr& header,
                                  std::uint32_t index) {
  const std::uint64_t offset = std::uint64_t{index} * sizeof(Elf64_Shdr);
  if (index >= header.e_shnum || header.e_shoff > UINT64_MAX - offset) {
    return std::nullopt;
  }
  return binary.at<Elf64_Shdr>(header.e_shoff + offset);
}

std::string_view text_at(std::string_view texts, std::uint32_t offset) {
  if (offset >= texts.size()) {
    return {};
  }
  const std::string_view rest = texts.substr(offset);
  const std::size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

void add_kernels(std::vector<std::string_view>& names, std::string_view symbols,
                 std::string_view texts) {
  for (std::size_t at = 0; symbols.size() - at >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, symbols.data() + at, sizeof symbol);
    const bool kernel =
        ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && (symbol.st_other & entry_mark) != 0;
    if (const std::string_view name = text_at(texts, symbol.st_name); kernel && !name.empty()) {
      names.push_back(name);
    }
  }
}

}  // namespace

std::vector<std::string_view> kernels_in(const void* cubin, std::size_t bytes) {
  const Binary binary(cubin, bytes);
  const std::optional<Elf64_Ehdr> header = binary.at<Elf64_Ehdr>(0);
  std::vector<std::string_view> names;
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64) {
    return names;
  }
  for (std::uint32_t i = 0; i < header->e_shnum; ++i) {
    const std::optional<Elf64_Shdr> symbols = section(binary, *header, i);
    if (!symbols || symbols->sh_type != SHT_SYMTAB) {
      continue;
    }
    if (const auto texts = section(binary, *header, symbols->sh_link)) {
      add_kernels(names, binary.part(symbols->sh_offset, symbols->sh_size),
                  binary.part(texts->sh_offset, texts->sh_size));
    }
  }
  return names;
}

}  // namespace kernelpro::trace
