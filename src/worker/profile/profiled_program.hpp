// A program as it is run for a profiler: the user's own as it is, a candidate in the jail.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/jail_policy.hpp"
#include "common/base/process.hpp"
#include "common/base/result.hpp"

namespace kernelpro {

struct ProfiledProgram {
  std::vector<std::string> arguments;
  std::string directory;                           // empty: ours
  std::map<std::string, std::string> environment;  // beside ours, or alone in a jail
  std::optional<JailPolicy> jail;                  // none: it is the user's own
  std::string jail_program;                        // kernelpro-jail
  std::int64_t timeout_ms = 120'000;
  std::size_t output_limit = std::size_t{1} << 20U;  // what is kept of what it prints
};

// Runs `wrapper` followed by the program, with `environment` beside the program's own. A failing
// program is a value.
[[nodiscard]] Result<Finished> run_profiled(const ProfiledProgram& program,
                                            const std::vector<std::string>& wrapper,
                                            const std::map<std::string, std::string>& environment,
                                            std::stop_token stop = {});

}  // namespace kernelpro
