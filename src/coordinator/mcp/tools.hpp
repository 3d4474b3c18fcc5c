// The tools: what each does with arguments that fit its schema.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/app/kept_worker.hpp"
#include "coordinator/app/progress.hpp"

namespace kernelpro::mcp {

// Where a tool works, and for whom.
struct ToolSetting {
  std::filesystem::path store;
  std::filesystem::path scratch;  // a folder of the call's own, which stays
  std::string client;             // "claude-code 2.1": as it calls itself
  bool remote = false;            // it has no files here, and may run nothing outside the sandbox
  KeptWorker* kept = nullptr;     // who judges candidates alone; null: a worker for this call
  Watcher watcher;
  std::stop_token stop;
};

// A bad_input error is what the model can mend; any other is told as it is.
using ToolFunction = Result<nlohmann::json> (*)(const nlohmann::json& arguments,
                                                const ToolSetting& setting);

struct Tool {
  std::string_view name;
  bool is_job = false;  // it may take long, and is done by a process of its own
  ToolFunction call = nullptr;
};

// In the order that they are listed in. `job` is the server's own and has no function.
[[nodiscard]] const std::vector<Tool>& tools();
[[nodiscard]] const Tool* find_tool(std::string_view name);

[[nodiscard]] Result<nlohmann::json> list_tasks_tool(const nlohmann::json& arguments,
                                                     const ToolSetting& setting);
[[nodiscard]] Result<nlohmann::json> make_task_tool(const nlohmann::json& arguments,
                                                    const ToolSetting& setting);
[[nodiscard]] Result<nlohmann::json> evaluate_tool(const nlohmann::json& arguments,
                                                   const ToolSetting& setting);
[[nodiscard]] Result<nlohmann::json> diagnose_tool(const nlohmann::json& arguments,
                                                   const ToolSetting& setting);
[[nodiscard]] Result<nlohmann::json> start_run_tool(const nlohmann::json& arguments,
                                                    const ToolSetting& setting);
[[nodiscard]] Result<nlohmann::json> next_proposal_tool(const nlohmann::json& arguments,
                                                        const ToolSetting& setting);
[[nodiscard]] Result<nlohmann::json> submit_tool(const nlohmann::json& arguments,
                                                 const ToolSetting& setting);
[[nodiscard]] Result<nlohmann::json> show_tool(const nlohmann::json& arguments,
                                               const ToolSetting& setting);
[[nodiscard]] Result<nlohmann::json> code_search_tool(const nlohmann::json& arguments,
                                                      const ToolSetting& setting);
[[nodiscard]] Result<nlohmann::json> export_tool(const nlohmann::json& arguments,
                                                 const ToolSetting& setting);
// Not listed: what the resource kernelpro://ceilings/BACKEND is made by.
[[nodiscard]] Result<nlohmann::json> ceilings_tool(const nlohmann::json& arguments,
                                                   const ToolSetting& setting);
inline constexpr std::string_view ceilings_job = "ceilings";

// The definition of a listed tool, schemas/mcp_NAME.json with what it refers to.
[[nodiscard]] Result<nlohmann::json> tool_definition(std::string_view name);

}  // namespace kernelpro::mcp
