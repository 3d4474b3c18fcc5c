// The flags that say what a function does not tell of itself.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/task/create.hpp"

namespace kernelpro {

// Takes "n=96" for --size; also for --held-out, --axis, --fix, --values and --shape.
[[nodiscard]] Status take_flag(NewTask& wishes, const std::string& flag,
                               const std::string& assignment);

// What stands behind a shell's prompt.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& words);

}  // namespace kernelpro
