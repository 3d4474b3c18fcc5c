// Adding to a file that must survive what comes next.
#pragma once

#include <filesystem>
#include <string_view>

#include "common/base/result.hpp"

namespace kernelpro {

// Writes all of `text` to `fd` and waits until it is on the disk; `path` is for the error's words.
// A pipe or a device cannot be waited for, and need not be.
[[nodiscard]] Status append_durably(int fd, std::string_view text,
                                    const std::filesystem::path& path);

}  // namespace kernelpro
