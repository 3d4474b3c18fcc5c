// Which registers an instruction reads and writes, and where it branches to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "worker/profile/instruction.hpp"
#include "worker/profile/opcodes.hpp"

namespace kernelpro {

// Of the general registers R0 to R254; `count` of them from `first`. RZ and uniform registers are
// none of them.
struct RegisterSpan {
  std::int16_t first = -1;
  std::int16_t count = 0;

  [[nodiscard]] bool empty() const { return count == 0; }
};

// An operand that is read, as it stands between the commas.
enum class OperandForm : std::uint8_t {
  none,
  registers,  // R4, -R4, |R4|, R4.H0_H0, R4.reuse
  zero,       // RZ, URZ, SRZ, 0
  address,    // has brackets: registers inside it are addresses, or it is constant memory
  other,      // an immediate, a uniform or special register, a predicate
};

struct Operand {
  OperandForm form = OperandForm::none;
  RegisterSpan span;
};

// An instruction with its operands taken apart.
struct DecodedInstruction {
  OpKind kind = OpKind::other;
  bool predicated = false;
  RegisterSpan written;
  // Behind the destination, predicates left out. Addresses with two registers ("[R2+R4]") take two.
  std::array<Operand, 6> read{};
  int reads = 0;
};

inline constexpr int general_registers = 255;

[[nodiscard]] DecodedInstruction decode(const Instruction& instruction);

// Whether an operand begins with this register.
[[nodiscard]] inline bool reads_register(const DecodedInstruction& decoded, int number) {
  for (int k = 0; k < decoded.reads; ++k) {
    const RegisterSpan& span = decoded.read[static_cast<std::size_t>(k)].span;
    if (!span.empty() && span.first == number) {
      return true;
    }
  }
  return false;
}

// The offset a branch goes to; nothing: it is no branch, or goes where a register says.
[[nodiscard]] std::optional<int> branch_target(const Instruction& instruction);

// Control never goes on behind it: EXIT, RET, and branches without a condition.
[[nodiscard]] bool ends_flow(const Instruction& instruction);

}  // namespace kernelpro
