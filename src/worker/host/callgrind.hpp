// Counts by callgrind: how often loops turn, and what its caches fetch for them.
#pragma once

#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "worker/host/host_collect.hpp"
#include "worker/host/hot_code.hpp"

namespace kernelpro {

struct InstructionCounts {
  double executed = 0;
  double accesses = 0;
  double first_misses = 0;  // of data
  double last_misses = 0;
};

// By module and linked address, of a file written with --dump-instr=yes and without compression.
using CallgrindCounts = std::map<std::string, std::map<std::int64_t, InstructionCounts>>;
[[nodiscard]] Result<CallgrindCounts> parse_callgrind(std::string_view text);

// Runs the program once more under callgrind and fills in what it counted of the loops. An error:
// there is no valgrind, or the program does not run under it.
[[nodiscard]] Status count_loops(const ProfiledProgram& program, const HostSettings& settings,
                                 HotCode& code, std::stop_token stop);

}  // namespace kernelpro
