// The words of a line of assembler.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelpro {

struct AssemblerLine {
  std::string mnemonic;  // without prefixes such as lock or bnd
  std::vector<std::string> operands;
  std::string symbol;  // what objdump says behind an address: "main+0x20"
  std::string text;    // without that and without comments
};

[[nodiscard]] AssemblerLine split_assembler(std::string_view text, bool arm);

// An address in hexadecimal; -1: it is none.
[[nodiscard]] std::int64_t parse_address(std::string_view text);

}  // namespace kernelpro
