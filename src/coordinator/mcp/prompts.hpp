// Prompts that people choose in their client: knowledge/mcp/NAME.md.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/base/result.hpp"

namespace kernelpro::mcp {

[[nodiscard]] nlohmann::json prompt_list();
// With {{argument}} replaced. A bad_input error names what is unknown or missing.
[[nodiscard]] Result<nlohmann::json> prompt_result(const std::string& name,
                                                   const nlohmann::json& arguments);

}  // namespace kernelpro::mcp
