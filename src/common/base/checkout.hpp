// Which commit a folder is at.
#pragma once

#include <filesystem>
#include <string>

namespace kernelpro {

// The commit of the git checkout that has `folder`; empty where git knows none, or is not there.
[[nodiscard]] std::string checkout_commit(const std::filesystem::path& folder);

}  // namespace kernelpro
