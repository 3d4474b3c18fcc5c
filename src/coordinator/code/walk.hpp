// The files below a folder that an index reads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace kernelpro::code {

struct FoundFile {
  std::string path;   // as it is shown
  std::string place;  // on the disk, seen from the folder
  std::int64_t size = 0;
  std::int64_t changed = 0;  // the time of its last change, as the file system counts
};

struct Walk {
  std::vector<FoundFile> files;         // by path
  std::vector<std::string> too_large;   // paths
  std::vector<std::string> unreadable;  // paths of folders, each ending in `/`, and of files
};

// Larger ones are data or made by a program.
inline constexpr std::int64_t largest_file = std::int64_t{4} << 20;

// Hidden files and folders are passed over, and links are not followed: they may lead around in a
// circle. What cannot be read is told of; only the folder itself is an error then.
[[nodiscard]] Result<Walk> walk_folder(const std::filesystem::path& folder);

}  // namespace kernelpro::code
