// Makes the profile of a program on processors: sampled first, then its hot loops read, simulated
// and, where that is asked for, counted.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "common/base/result.hpp"
#include "worker/host/host_tools.hpp"
#include "worker/profile/collect.hpp"
#include "worker/profile/profiled_program.hpp"

namespace kernelpro {

struct HostSettings {
  HostTools tools;
  std::filesystem::path folder;  // the program must be able to write there
  bool preload = true;           // false: it samples itself, a replayed candidate does
  bool count = false;            // run it once more, under callgrind
  // What runs then, where that is another program than the sampled one, and how much it does of
  // what that does (a candidate: of one call).
  std::optional<ProfiledProgram> counted;
  double counted_share = 1;
  std::function<void(const std::string&)> progress;
  std::string compiler_said;  // its remarks, of a candidate
  std::string source;         // of a candidate; empty: lines are read from the files themselves
};

// Errors: it cannot be started, or was seen for too short a time. One that fails, is killed or does
// not end in time is diagnosed by what was seen until then, and the profile says so.
[[nodiscard]] Result<Collected> collect_host_profile(const ProfiledProgram& program,
                                                     const HostSettings& settings,
                                                     std::stop_token stop = {});

}  // namespace kernelpro
