// A candidate as a patch against the file that a task was made of.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/task.hpp"

namespace kernelpro {

// Where the function of a task came from; kept beside task.toml.
struct SourceOrigin {
  std::filesystem::path file;  // as seen from `root` (portable_path)
  std::filesystem::path root;  // where a patch is applied: the folder of the store
  std::string hash;            // of the file when the task was made
  std::string function;
};

[[nodiscard]] Status write_origin(const std::filesystem::path& task_folder,
                                  const SourceOrigin& origin);
// A bad_input error where the task was not made of a file.
[[nodiscard]] Result<SourceOrigin> read_origin(const std::filesystem::path& task_folder);

// A unified diff for `patch -p1` and `git apply` in `origin.root`, with `about` in front of it;
// empty when nothing differs. A bad_input error, and no patch, when the file or a header has
// changed since the task was made.
[[nodiscard]] Result<std::string> make_patch(const SourceOrigin& origin,
                                             const std::string& own_source,
                                             const std::string& about);

}  // namespace kernelpro
