// The tables of a store and how a file with them is opened. For the files of this room and their
// tests only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/store/database.hpp"
#include "coordinator/store/store.hpp"

namespace kernelpro::store {

// Changed whenever an older program could misread what is written.
inline constexpr std::int64_t schema_version = 1;
// What marks an SQLite file as a store: "KPst".
inline constexpr std::int64_t application_id = 0x4B507374;

// The database in `directory`, which exists. Write mode makes it where it is missing. What people
// should know is added to `notices`.
[[nodiscard]] Result<Database> open_database(const std::filesystem::path& directory, StoreMode mode,
                                             Journal journal, std::vector<std::string>& notices);

}  // namespace kernelpro::store
