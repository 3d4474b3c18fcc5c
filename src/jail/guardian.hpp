// The jail as guardian of a program that starts others (a compiler, a profiler).
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "common/base/result.hpp"

namespace kernelpro {

// Splits the process in two and returns in the child only, which is to become the program. The
// guardian stays outside the jail with the child's exit as its own. It ends everything that
// descends from it, whatever group or session that has moved to, as soon as the program ends, it is
// asked by SIGTERM, or `parent` (whose child this process is) dies. With a limit, also once all of
// them together have used that much of the processors; then it ends as by SIGXCPU.
[[nodiscard]] Status continue_under_guard(pid_t parent, std::int64_t cpu_limit_ms);

}  // namespace kernelpro
