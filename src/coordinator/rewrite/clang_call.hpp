// clang, called in the jail on files in a folder of ours.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/process.hpp"
#include "common/base/result.hpp"
#include "coordinator/rewrite/parse.hpp"

namespace kernelpro {

// A file that whom the jail becomes can read.
[[nodiscard]] Status write_readable(const std::filesystem::path& path, const std::string& text);

// Blocks until clang has ended. An error only when it could not be run or took too long; what it
// says of the source is a value. It sees `folder` and the system's headers, and writes no files.
[[nodiscard]] Result<Finished> call_clang(const std::filesystem::path& folder,
                                          const std::vector<std::string>& arguments,
                                          const ParseSettings& settings, std::stop_token stop);

}  // namespace kernelpro
