// The folder of a task that is being written.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/result.hpp"

namespace kernelpro {

// Whether a task of that name can be made there: a name like others, and nothing written over.
[[nodiscard]] Status check_new_task(const std::string& name, const std::filesystem::path& folder);

// A folder that vanishes with its owner unless it was kept under its final name.
class DraftFolder {
 public:
  explicit DraftFolder(const std::filesystem::path& final_path);
  DraftFolder(const DraftFolder&) = delete;
  DraftFolder& operator=(const DraftFolder&) = delete;
  ~DraftFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] Status keep() const;
  // An error of the draft, told with the final name.
  [[nodiscard]] Error renamed(Error error) const;

 private:
  std::filesystem::path final_;
  std::filesystem::path path_;
};

}  // namespace kernelpro
