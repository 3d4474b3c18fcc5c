// What clients on other machines may not ask for.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kernelpro::mcp {

// Why not; empty: they may. They have no files here, so that no path of theirs is read or written;
// and what is not judged in the sandbox is not run for them.
[[nodiscard]] std::string remote_complaint(const std::string& tool,
                                           const nlohmann::json& arguments);

}  // namespace kernelpro::mcp
