// The calls of a run as a file that can be replayed: one line of JSON a call
// (schemas/transcript_line.json).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/llm.hpp"

namespace kernelpro {

// Calls that still wait are left out.
[[nodiscard]] Result<std::string> transcript_text(const std::vector<LlmCall>& calls);

// In the order of the file. Strict: an error names file and line; an id twice is one.
[[nodiscard]] Result<std::vector<LlmCall>> read_transcript(const std::filesystem::path& file);

}  // namespace kernelpro
