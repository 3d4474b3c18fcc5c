// Makes the profile of a program: traced first, then its dominant kernels by ncu.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/profile.hpp"
#include "worker/profile/profiled_program.hpp"
#include "worker/profile/profilers.hpp"

namespace kernelpro {

struct CollectSettings {
  Profilers profilers;
  std::filesystem::path folder;      // where the profilers write; the program must be able to
  std::vector<std::string> figures;  // keys; empty: all that there are
  bool counters = true;              // false: no ncu
  bool rules = false;                // ncu's own rules too
  bool cold = false;   // launches are profiled from emptied caches, as they were timed
  double share = 0.9;  // of the kernels' time that is looked at
  std::map<std::string, double> limits;  // of the GPU (Profile::limits), as far as they are known
  std::string binary;                    // where the kernels' code is, for want of counters
  std::size_t most_kernels = 8;
  std::function<void(const std::string&)> progress;
};

struct Collected {
  Profile profile;                        // without ceilings and declared work
  std::map<std::string, double> seconds;  // "trace", "ncu", "pages"
};

// Errors: the program fails, hangs or launches no kernel; there is no tracer. Counters that cannot
// be read are no error: the profile says why, and has what the rest tells. `choose` may change
// what is measured once the trace is known.
[[nodiscard]] Result<Collected> collect_profile(
    const ProfiledProgram& program, CollectSettings settings,
    const std::function<void(const Profile& traced, CollectSettings&)>& choose = {},
    std::stop_token stop = {});

// Of the parts of a program between profiler marks, the one of median span.
[[nodiscard]] const Trace& typical_part(const std::vector<Trace>& parts);

}  // namespace kernelpro
