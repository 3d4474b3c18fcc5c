// Arguments of tools, which fit their schemas.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "common/base/result.hpp"
#include "common/model/backend.hpp"
#include "common/model/node.hpp"
#include "coordinator/app/runs.hpp"
#include "coordinator/mcp/tools.hpp"

namespace kernelpro::mcp {

// Empty where it is not there, or no text.
[[nodiscard]] std::string text_of(const nlohmann::json& object, const char* key);
[[nodiscard]] bool is_set(const nlohmann::json& arguments, const char* key);
[[nodiscard]] Backend backend_of(const nlohmann::json& arguments);

// The run, which has to be a plain name, and the node.
[[nodiscard]] Result<NodeRequest> node_of(const nlohmann::json& arguments,
                                          const ToolSetting& setting);

// Letters, digits and "._-", and not hidden: what names of runs, tasks and moves are made of, so
// that none leads out of its folder.
[[nodiscard]] bool is_plain_name(const std::string& name);

// The task; for a remote client only one that is registered.
[[nodiscard]] Result<std::string> asked_task(const nlohmann::json& arguments,
                                             const ToolSetting& setting);

// What a client gave as a source of that task: a text with a line break is written to a file of the
// call's own; anything else is a path or a name already, for a remote client only a name of the
// task's own implementations.
[[nodiscard]] Result<std::string> source_file(const std::string& given, const std::string& name,
                                              const nlohmann::json& arguments,
                                              const ToolSetting& setting);

}  // namespace kernelpro::mcp
