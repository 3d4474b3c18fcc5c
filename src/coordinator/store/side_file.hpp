// A database that another room keeps beside the store: its marks and tables, and how it is opened.
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/base/result.hpp"
#include "coordinator/store/database.hpp"
#include "coordinator/store/store.hpp"

namespace kernelpro::store {

struct SideFile {
  DatabaseUse use;
  // What marks an SQLite file as one of this kind: four letters.
  std::int64_t application_id = 0;
  // Changed whenever an older program could misread what is written.
  std::int64_t version = 0;
  const char* tables = "";
  // For who reads where there is no such file yet: how one comes to be.
  const char* absent = "";
};

// To write, it is made where it is missing, with its folder. One of another version and a file that
// is none are refused, left as they are, and the error says what to do.
[[nodiscard]] Result<Database> open_side_file(const std::filesystem::path& file, StoreMode mode,
                                              const SideFile& kind);

}  // namespace kernelpro::store
