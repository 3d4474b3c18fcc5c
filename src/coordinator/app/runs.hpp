// Runs of a store, looked at and removed.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/report/run_report.hpp"
#include "coordinator/report/runs_table.hpp"
#include "coordinator/report/tools_table.hpp"
#include "coordinator/store/store.hpp"

namespace kernelpro {

// What people should know of a store that is read; nothing of one that cannot be.
[[nodiscard]] std::vector<std::string> store_notices(const std::filesystem::path& store);

[[nodiscard]] Result<std::vector<RunSummary>> list_runs(const std::filesystem::path& store);
[[nodiscard]] nlohmann::json to_json(const std::vector<RunSummary>& runs);

// Removes runs, all or none where a name is wrong or somebody works on one: nobody then waits for
// answers of theirs either. With `dry_run` nothing is changed. Returns what they were.
[[nodiscard]] Result<std::vector<RunSummary>> remove_runs(const std::filesystem::path& store,
                                                          const std::vector<std::string>& runs,
                                                          bool dry_run);

// A run as a whole.
[[nodiscard]] Result<RunReport> load_report(const Store& store, const std::string& run);
[[nodiscard]] Result<RunReport> report_run(const std::filesystem::path& store,
                                           const std::string& run);
// Several, each with the certificate of its best.
[[nodiscard]] Result<std::vector<RunRow>> report_runs(const std::filesystem::path& store,
                                                      const std::vector<std::string>& runs);

// What the findings of tools led to in `runs`; none: in all of the store.
[[nodiscard]] Result<std::vector<ToolRecord>> tool_records(const std::filesystem::path& store,
                                                           std::vector<std::string> runs);

[[nodiscard]] Result<std::vector<ToolRecord>> tool_records(const Store& store,
                                                           const std::vector<std::string>& runs);
// In the last hundred runs, but for one.
[[nodiscard]] Result<std::vector<ToolRecord>> recent_tool_records(const Store& store,
                                                                  const std::string& but_for);

struct NodeRequest {
  std::filesystem::path store;
  std::string run;
  std::optional<NodeId> node;  // none: the best
};

// A run with one of its nodes.
struct ChosenNode {
  RunReport report;
  Node node;
};

[[nodiscard]] Result<ChosenNode> choose_node(const Store& store, const NodeRequest& request);

// A node with all that is known of it.
struct ShownNode {
  ChosenNode chosen;
  std::optional<Certificate> certificate;
  std::vector<LlmCall> calls;         // of models, for this node
  std::optional<std::string> source;  // none: not written yet, or not at all
  // Where it has a source: what it differs from; the root is none where it is the parent.
  std::optional<std::string> parent_source;
  std::optional<std::string> root_source;
};

[[nodiscard]] Result<ShownNode> show_node(const NodeRequest& request);
[[nodiscard]] nlohmann::json to_json(const ShownNode& shown);

// Why a node was tried, and why its branch was closed.
struct NodeReasons {
  std::string run;
  std::string sentence;             // what was tried and what came of it
  Node node;                        // its `reasons` say why it was tried
  std::vector<std::string> now;     // what the search knows of it after all that happened
  std::vector<std::string> closed;  // empty: it is open
};

[[nodiscard]] Result<NodeReasons> explain_node(const NodeRequest& request);
[[nodiscard]] nlohmann::json to_json(const NodeReasons& reasons);

}  // namespace kernelpro
