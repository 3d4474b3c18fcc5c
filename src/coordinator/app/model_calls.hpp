// What models are asked in a run.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/result.hpp"
#include "coordinator/app/prompt_preview.hpp"
#include "coordinator/app/runs.hpp"

namespace kernelpro {

// What a model would be asked for a child of the node.
[[nodiscard]] Result<Preview> preview_child(const NodeRequest& request);

// Every call that was answered, one JSON line each.
[[nodiscard]] Result<std::string> run_transcript(const std::filesystem::path& store,
                                                 const std::string& run);

}  // namespace kernelpro
