// One self-contained source from a file and the headers that lie beside it.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/result.hpp"

namespace kernelpro {

// The file's text with every `#include "x"` replaced by the content of x, looked up beside the file
// that includes it, each file once. `#include <x>` and "kernelpro/candidate.h" stay as they are.
[[nodiscard]] Result<std::string> inline_includes(const std::filesystem::path& file);

}  // namespace kernelpro
