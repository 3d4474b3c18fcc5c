// One instruction of a kernel's machine code, with what was counted and sampled at it.
#pragma once

#include <optional>
#include <string>

#include "common/model/profile.hpp"

namespace kernelpro {

struct Instruction {
  int offset = 0;         // in bytes from the function's first
  std::string predicate;  // "@P0", "@!P1"; empty: always
  std::string opcode;     // with all that stands behind its dots: "LDG.E.128.CONSTANT"
  std::string operands;   // "R4, desc[UR4][R2.64+0x10]"
  SourcePlace place;
  // Absent where there were no counters.
  std::optional<double> executed;          // by warps
  std::optional<double> threads_active;    // of the warps that executed it, also predicated off
  std::optional<double> threads_executed;  // predicated on
  std::optional<double> sectors;           // global: what the addresses need of L2
  std::optional<double> ideal_sectors;
  std::optional<double> wavefronts;  // shared
  std::optional<double> ideal_wavefronts;
  std::optional<double> samples;
  Stalls stalls;  // by reason, with the names of smsp__pcsamp_warps_issue_stalled_…
};

}  // namespace kernelpro
