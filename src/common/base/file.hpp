// Whole-file reads and writes, and scratch folders, with errors that name the file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "common/base/unique_fd.hpp"

namespace kernelpro {

[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path);

// Writes a temporary neighbor, syncs it and renames it: readers see the old or the new content,
// never a part. A full disk is reported as such and leaves the old file as it was.
[[nodiscard]] Status write_file_atomic(const std::filesystem::path& path, std::string_view content);

// The same without waiting for the disk, which takes milliseconds: for scratch files, and for what
// may be missing or empty after a loss of power.
[[nodiscard]] Status write_file_unsynced(const std::filesystem::path& path,
                                         std::string_view content);

[[nodiscard]] Status make_directories(const std::filesystem::path& path);

// "No space left on device (while writing /x/y)" for the current errno.
[[nodiscard]] Error errno_error(const std::string& doing);

// A private folder (mode 0711) under the system's temporary folder, removed with its owner. The
// owner holds a lock on it, which the kernel takes back however the process ends.
class ScratchDir {
 public:
  [[nodiscard]] static Result<ScratchDir> create(std::string_view purpose);
  ScratchDir(ScratchDir&& other) noexcept;
  ScratchDir& operator=(ScratchDir&& other) noexcept;
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;
  ~ScratchDir();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  ScratchDir(std::filesystem::path path, UniqueFd lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}
  std::filesystem::path path_;
  UniqueFd lock_;
};

// Removes this user's scratch folders whose owners were killed. One whose owner lives, here or in
// another container, stays, because its lock is held.
void remove_abandoned_scratch();

// Removes the scratch folders of this process, whoever uses them: for one that ends at once.
void remove_own_scratch();

}  // namespace kernelpro
