// Instructions that put memory in order.
#pragma once

#include <string_view>

#include "worker/profile/opcodes.hpp"

namespace kernelpro {

// For more than the block.
[[nodiscard]] inline bool is_fence(const Instruction& one) {
  return base_of(one.opcode) == "MEMBAR" && !has_modifier(one.opcode, "CTA");
}

// What belongs to a fence: it waits, looks for errors and empties L1.
[[nodiscard]] inline bool belongs_to_fence(const Instruction& one) {
  const std::string_view base = base_of(one.opcode);
  return is_fence(one) || base == "ERRBAR" || base == "CGAERRBAR" ||
         (base == "CCTL" && has_modifier(one.opcode, "IVALL"));
}

}  // namespace kernelpro
