// A candidate taken home.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/app/runs.hpp"
#include "coordinator/report/export.hpp"

namespace kernelpro {

struct ExportRequest {
  NodeRequest what;  // without a node: the best, and never the baseline
  std::filesystem::path directory;
  std::optional<ExportForm> form;  // none: source
  bool overwrite = false;
  bool accept_suspect = false;
};

struct Exported {
  NodeId node = root_node;
  bool confirmed = false;                    // it was, or it was asked for by its number
  std::vector<std::filesystem::path> files;  // relative, within the folder
  std::optional<Error> nothing;              // why there is nothing to export
  std::string without_patch;                 // of a user's own function: why it has none
};

[[nodiscard]] Result<Exported> export_run(const ExportRequest& request);

}  // namespace kernelpro
