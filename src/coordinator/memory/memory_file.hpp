// The file of a memory: its tables, and how it is opened. For the files of this room only.
#pragma once

#include <filesystem>

#include "common/base/result.hpp"
#include "coordinator/store/database.hpp"
#include "coordinator/store/store.hpp"

namespace kernelpro::memory {

// To write, it is made where it is missing, with its folder. One of another version and a file that
// is no memory are refused, left as they are, and the error says what to do.
[[nodiscard]] Result<store::Database> open_memory_file(const std::filesystem::path& file,
                                                       StoreMode mode);

}  // namespace kernelpro::memory
