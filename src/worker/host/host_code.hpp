// The machine code of a module, as objdump writes it: functions, and their innermost loops.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/host_profile.hpp"
#include "worker/host/host_instruction.hpp"

namespace kernelpro {

struct MachineLine {
  std::int64_t address = 0;
  std::string_view text;
};

struct HostFunction {
  std::string name;
  std::vector<MachineLine> lines;  // in ascending order

  [[nodiscard]] std::int64_t begin() const { return lines.front().address; }
  [[nodiscard]] std::int64_t last() const { return lines.back().address; }
};

// Of `objdump -d --no-show-raw-insn`; it must outlive what comes of it. What is no code is left
// out.
[[nodiscard]] std::vector<HostFunction> parse_objdump(std::string_view text);

// A loop with what it does; its instructions too, for llvm-mca.
struct FoundLoop {
  HostLoop loop;
  std::vector<HostInstruction> body;
};

// Those that contain no other, in ascending order.
[[nodiscard]] std::vector<FoundLoop> innermost_loops(const HostFunction& function, bool arm);

}  // namespace kernelpro
