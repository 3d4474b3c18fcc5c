// The lock of a run: flock on a file, so that the lock of a dead process is gone with it. For the
// files of this room and their tests only.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/result.hpp"
#include "common/base/unique_fd.hpp"

namespace kernelpro::store {

// An environment error names who holds it and what to do.
[[nodiscard]] Result<UniqueFd> take_lock(const std::filesystem::path& file, const std::string& run);

// Whether somebody holds it now.
[[nodiscard]] bool is_locked(const std::filesystem::path& file);

}  // namespace kernelpro::store
