// Folders of code taken into an index, and kept up to date.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "coordinator/code/walk.hpp"
#include "coordinator/store/database.hpp"

namespace kernelpro::code {

// A folder that is indexed. Files in it are shown as LABEL/PATH.
struct IndexedFolder {
  std::int64_t id = 0;
  std::string label;
  std::string place;  // as kept_path writes it
  std::int64_t files = 0;
};

[[nodiscard]] Result<std::vector<IndexedFolder>> indexed_folders(store::Database& index);

// That of `place`, made where it is new. Of two folders that would have the same label the later
// one gets a number: `kernels-2`.
[[nodiscard]] Result<IndexedFolder> need_folder(store::Database& index, const std::string& label,
                                                const std::string& place);
[[nodiscard]] Status forget_folder(store::Database& index, const IndexedFolder& folder);

// What came of one folder.
struct FolderUpdate {
  std::int64_t files = 0;    // indexed now
  std::int64_t read = 0;     // new, or with other content than before
  std::int64_t removed = 0;  // that are not there any more
  std::int64_t symbols = 0;  // in all files of it
  std::vector<std::string> binary;
  std::vector<std::string> too_large;
  std::vector<std::string> unreadable;  // what was known of them stays
};

// Brings `folder` to what `walk` found below `root`: files of the same size and time are not read
// again, those of the same content not indexed again. Without `ctags` there are no symbols, and a
// later call that has it adds them. All or nothing; stopped, nothing.
[[nodiscard]] Result<FolderUpdate> update_folder(store::Database& index,
                                                 const IndexedFolder& folder,
                                                 const std::filesystem::path& root, Walk walk,
                                                 const std::optional<std::string>& ctags,
                                                 std::stop_token stop);

}  // namespace kernelpro::code
