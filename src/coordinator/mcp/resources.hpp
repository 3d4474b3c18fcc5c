// What clients may read: contracts, tasks, nodes and moves.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/base/result.hpp"

namespace kernelpro::mcp {

// Before the backend in the address of what a machine can do; that one is measured, by a job.
inline constexpr const char* ceilings_prefix = "kernelpro://ceilings/";

[[nodiscard]] nlohmann::json resource_list();
[[nodiscard]] nlohmann::json resource_templates();
// The text behind the address. A bad_input error where there is none.
[[nodiscard]] Result<std::string> read_resource(const std::string& uri,
                                                const std::filesystem::path& store);
[[nodiscard]] nlohmann::json resource_result(const std::string& uri, std::string text);

}  // namespace kernelpro::mcp
