// clang, called in the jail on files in a folder of ours.
#pragma once

#include <cstddef>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/process.hpp"
#include "common/base/result.hpp"
#include "coordinator/rewrite/parse.hpp"

namespace kernelpro {

// What clang may print at the most.
inline constexpr std::size_t largest_clang_output = std::size_t{512} << 20U;

// A file that whom the jail becomes can read.
[[nodiscard]] Status write_readable(const std::filesystem::path& path, const std::string& text);

// The public header as `kernelpro/candidate.h` in `folder`, where the settings name one.
[[nodiscard]] Status put_public_header(const std::filesystem::path& folder,
                                       const ParseSettings& settings);

// clang in the jail, to be started by the caller. It sees `folder` and the system's
// headers, and writes no files.
[[nodiscard]] Command clang_command(const std::filesystem::path& folder,
                                    const std::vector<std::string>& arguments,
                                    const ParseSettings& settings);

// Those by which it prints the tree of a source, and nothing of what lies in prepared headers.
[[nodiscard]] std::vector<std::string> tree_arguments(const ParseSettings& settings);

[[nodiscard]] Error too_slow(const ParseSettings& settings);

// Blocks until clang has ended. An error only when it could not be run or took too long; what it
// says of the source is a value.
[[nodiscard]] Result<Finished> call_clang(const std::filesystem::path& folder,
                                          const std::vector<std::string>& arguments,
                                          const ParseSettings& settings, std::stop_token stop);

}  // namespace kernelpro
