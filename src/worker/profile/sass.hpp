// Machine code as NVIDIA's tools print it, read into instructions.
//
// What cannot be read is an error that names the line; nothing is guessed. Branch targets in the
// operands become offsets from the function's first instruction ("0x1f0"), whatever form they had.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "worker/profile/instruction.hpp"

namespace kernelpro {

// A kernel, with the functions the compiler put behind it in the same section (slow paths of a
// division, say).
struct CodeFunction {
  std::string name;          // mangled
  std::string architecture;  // "sm_90a"; empty: the text does not say
  std::vector<Instruction> code;
};

// What is wanted of a text.
struct CodeWish {
  std::string architecture;  // of the GPU, "sm_90"; empty: the text has code for one only
  std::string function;      // mangled; empty: all of them
  std::size_t most_instructions = 2'000'000;  // more is an error: one takes about 500 bytes
};

// Of several architectures in the text, the one that a GPU of `wish.architecture` would run: the
// same, with a suffix ("sm_90a"), or an earlier one of the same generation.
[[nodiscard]] Result<std::vector<CodeFunction>> parse_cuobjdump(std::string_view text,
                                                                const CodeWish& wish);

// One instruction without its offset, as ncu's source page shows it: "@P0   EXIT". A semicolon and
// comments behind it are allowed. Nothing: this is no instruction.
[[nodiscard]] std::optional<Instruction> parse_instruction(std::string_view text);

// Makes offsets of branch targets that are addresses; `first` is the address of the first
// instruction. ncu's source page shows such.
void make_targets_relative(std::vector<Instruction>& code, std::uint64_t first);

// A header that came with CUDA or the system, by its path.
[[nodiscard]] bool is_system_header(std::string_view file);

}  // namespace kernelpro
