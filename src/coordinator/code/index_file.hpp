// The file of an index: its tables, and how it is opened.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/result.hpp"
#include "coordinator/store/database.hpp"
#include "coordinator/store/store.hpp"

namespace kernelpro::code {

[[nodiscard]] std::filesystem::path index_file(const std::filesystem::path& store);

// Whether something was indexed there.
[[nodiscard]] bool has_index(const std::filesystem::path& store);

// To write, it is made where it is missing, with the folder. An index of another version and a file
// that is none are refused, and say what to do.
[[nodiscard]] Result<store::Database> open_index(const std::filesystem::path& store,
                                                 StoreMode mode);

}  // namespace kernelpro::code
