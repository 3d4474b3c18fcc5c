// The index of a store as agents learn from it.
#pragma once

#include <filesystem>
#include <memory>

#include "common/model/llm.hpp"
#include "coordinator/propose/agents/code_library.hpp"

namespace kernelpro {

// nullptr where nothing is indexed in `store`, or the settings say `none`.
[[nodiscard]] std::shared_ptr<const CodeLibrary> find_code_library(
    const std::filesystem::path& store, const LlmSettings& settings);

}  // namespace kernelpro
