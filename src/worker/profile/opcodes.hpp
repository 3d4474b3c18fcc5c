// What an instruction does, by its opcode.
#pragma once

#include <optional>
#include <string_view>

#include "common/model/profile.hpp"
#include "worker/profile/instruction.hpp"

namespace kernelpro {

enum class OpKind {
  fp32,
  fp64,
  fp16,
  integer,
  conversion,
  special,  // MUFU
  branch,
  barrier,   // of a block
  mbarrier,  // SYNCS
  hmma,
  imma,
  dmma,
  hgmma,
  igmma,
  qgmma,
  bgmma,
  utcmma,  // matrix products of the fifth generation, from tensor memory
  tma_load,
  tma_store,
  bulk_copy,
  cp_async,
  load_global,
  store_global,
  load_shared,
  store_shared,
  load_local,
  store_local,
  load_constant,
  atomic_global,
  atomic_shared,
  reduction_global,
  shuffle,
  vote,
  move,
  uniform,
  call,
  other,
};

// As in CodeFacts::mix.
[[nodiscard]] std::string_view name_of(OpKind kind);

[[nodiscard]] OpKind kind_of(const Instruction& instruction);

// "LDG" of "LDG.E.128".
[[nodiscard]] std::string_view base_of(std::string_view opcode);

// Whether "128" stands between the dots of "LDG.E.128".
[[nodiscard]] bool has_modifier(std::string_view opcode, std::string_view modifier);

// Its operands name a place in the code: branches, calls, joins.
[[nodiscard]] bool has_code_target(std::string_view opcode);

struct MemoryTraits {
  Space space = Space::global;
  Access access = Access::load;
  int bits = 32;  // that a thread moves; 0: one instruction moves as much as its operands say
};

// Nothing: it does not touch memory.
[[nodiscard]] std::optional<MemoryTraits> memory_traits(OpKind kind, std::string_view opcode);

}  // namespace kernelpro
