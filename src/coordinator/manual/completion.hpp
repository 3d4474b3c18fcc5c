// What a shell offers after TAB.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/manual/manual.hpp"

namespace kernelpro {

// "bash", "fish", "zsh".
[[nodiscard]] std::vector<std::string> completion_shells();

// The script for that shell; an error where it is none of completion_shells(). Names of tasks and
// runs are asked of the program itself, by `kernelpro completion tasks` and `... runs`.
[[nodiscard]] Result<std::string> completion_script(const ManualCommand& root,
                                                    const std::string& shell);

}  // namespace kernelpro
