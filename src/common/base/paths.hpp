// Where the programs and their data are, found from the running program's own place.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/result.hpp"

namespace kernelpro {

// The folder of the running executable.
[[nodiscard]] std::filesystem::path program_directory();

// A sibling program ("kernelpro-runner"); an environment error says what to reinstall.
[[nodiscard]] Result<std::filesystem::path> sibling_program(const std::string& name);

// The data folder: KERNELPRO_SHARE, <prefix>/share/kernelpro beside the installed programs, or
// the source tree a build folder belongs to. It holds tasks/, include/, ceilings/, schemas/
// and knowledge/.
[[nodiscard]] Result<std::filesystem::path> share_directory();

// The per-user cache: KERNELPRO_CACHE, $XDG_CACHE_HOME/kernelpro or ~/.cache/kernelpro.
[[nodiscard]] std::filesystem::path cache_directory();

// How a file names another so that both can be moved together: as seen from `folder`. Where the two
// share no folder, with its whole path.
[[nodiscard]] std::filesystem::path portable_path(const std::filesystem::path& path,
                                                  const std::filesystem::path& folder);

// The same for what a store keeps, with "share:" for what lies in the data folder; and back.
[[nodiscard]] std::string kept_path(const std::filesystem::path& path,
                                    const std::filesystem::path& folder);
[[nodiscard]] std::filesystem::path found_path(const std::string& kept,
                                               const std::filesystem::path& folder);

}  // namespace kernelpro
