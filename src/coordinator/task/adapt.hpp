// A user's own function behind the candidate's interface.
#pragma once

#include <string>

#include "common/base/result.hpp"
#include "common/model/task.hpp"

namespace kernelpro {

// A file of the task that stands in front of the adapter: a plain function that calls the user's,
// which takes structs, lists and the like.
inline constexpr const char* bridge_file = "bridge.hpp";

// + - * / over names and whole numbers: a formula that C++ computes as the task does.
[[nodiscard]] bool is_plain_arithmetic(const std::string& formula);

// The marked block that defines kp_launch (and kp_workspace) in terms of the task's entry. An error
// has the key it concerns as context ("entry.arguments").
[[nodiscard]] Result<std::string> adapter_block(const Task& task);

// The source with the adapter around it where it needs one: the task has an entry for that backend
// and the source defines no kp_launch. Others stay as they are.
[[nodiscard]] Result<std::string> adapted(const Task& task, const std::string& source,
                                          Backend backend);

}  // namespace kernelpro
