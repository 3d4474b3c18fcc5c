// The project's own files, as the house tests see them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace kernelpro {

inline const std::filesystem::path source_tree = KERNELPRO_SOURCE_DIR;

// All regular files under `folder` with one of these extensions, sorted; build folders, hidden
// folders and what is not there are passed over.
inline std::vector<std::filesystem::path> files_under(const std::filesystem::path& folder,
                                                      const std::vector<std::string>& extensions) {
  namespace fs = std::filesystem;
  std::vector<fs::path> found;
  std::error_code none;
  for (auto entry = fs::recursive_directory_iterator(folder, none);
       entry != fs::recursive_directory_iterator(); ++entry) {
    const fs::path& path = entry->path();
    if (entry->is_directory() &&
        (path == source_tree / "build" || path.filename().string().starts_with('.'))) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file() &&
               std::find(extensions.begin(), extensions.end(), path.extension().string()) !=
                   extensions.end()) {
      found.push_back(path);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace kernelpro
