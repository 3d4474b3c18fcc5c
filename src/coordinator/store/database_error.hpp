// What a failure of SQLite means for the user. For the files of this room and their tests only.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/result.hpp"
#include "coordinator/store/database.hpp"

namespace kernelpro::store {

// `code` is SQLite's extended result code, `system_code` the errno behind it (0: none), `text`
// SQLite's own words.
[[nodiscard]] Error database_error(const std::filesystem::path& file, const DatabaseUse& use,
                                   int code, int system_code, const std::string& text);

// A file that is there and may only be read.
[[nodiscard]] Error not_writable(const std::filesystem::path& file, const std::string& reason);

// What to do about a folder that cannot be used.
inline constexpr const char* other_folder = "choose another folder with --store or KERNELPRO_STORE";

}  // namespace kernelpro::store
