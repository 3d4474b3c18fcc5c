// One instruction of x86-64 or arm64, as far as the tools need to know it: what it reads, writes
// and does. Read off the text of objdump.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelpro {

enum class HostKind {
  move,        // loads, stores, copies, shuffles, conversions of width
  arithmetic,  // on numbers, comparisons included
  division,    // and square roots
  branch,
  call,
  other,  // nothing that computes
};

// What two values that are combined so come to does not depend on the order, but for rounding.
enum class Combining { none, sum, product, minimum, maximum, bits };

struct HostInstruction {
  std::int64_t address = 0;
  std::string text;  // as llvm-mca reads it
  HostKind kind = HostKind::other;
  bool vector_register = false;  // works on the vector unit: floating point, or packed
  bool packed = false;           // on more than one element
  int vector_bits = 0;
  int element_bits = 0;
  bool load = false;
  bool store = false;
  bool gather = false;
  Combining combining = Combining::none;
  std::vector<std::string> reads;      // registers, whole ones ("rax", "v3", "x1")
  std::vector<std::string> addresses;  // registers that addresses are made of
  std::string writes;                  // the register; empty: none
  // Of the registers that it reads, those that are combined (the addend of a multiply-add); empty:
  // all of them.
  std::string combined;
  std::int64_t target = -1;  // of a branch; -1: not known
  bool conditional = false;
  std::string callee;
};

// One line of `objdump -d` without its address; `arm` for arm64.
[[nodiscard]] HostInstruction parse_host_instruction(std::int64_t address, std::string_view text,
                                                     bool arm);

}  // namespace kernelpro
