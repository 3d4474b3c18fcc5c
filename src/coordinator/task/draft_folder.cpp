#include "coordinator/task/draft_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <system_error>

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

bool is_task_name(const std::string& name) {
  const auto fits = [](unsigned char c) {
    return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '_';
  };
  return !name.empty() && std::islower(static_cast<unsigned char>(name[0])) != 0 &&
         std::all_of(name.begin(), name.end(), fits);
}

}  // namespace

Status check_new_task(const std::string& name, const fs::path& folder) {
  if (!is_task_name(name)) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("\"{}\" is not a task's name: expected a lower-case letter, then "
                                  "lower-case letters, digits and underscores",
                                  name));
  }
  std::error_code failed;
  if (fs::exists(fs::symlink_status(folder, failed))) {
    return make_error(ErrorKind::bad_input,
                      "this already exists and is not written over; choose another name or remove "
                      "it",
                      folder.string());
  }
  return {};
}

DraftFolder::DraftFolder(const fs::path& final_path)
    : final_(final_path),
      path_(final_path.parent_path() /
            fmt::format(".{}.{}", final_path.filename().string(), ::getpid())) {}

DraftFolder::~DraftFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Status DraftFolder::keep() const {
  std::error_code failed;
  fs::rename(path_, final_, failed);
  if (failed) {
    return make_error(ErrorKind::io, "the new task could not be put there: " + failed.message(),
                      final_.string());
  }
  return {};
}

Error DraftFolder::renamed(Error error) const {
  const std::string draft = path_.string();
  if (error.context.starts_with(draft)) {
    error.context.replace(0, draft.size(), final_.string());
  }
  error.message += " (nothing was written; correct the flags or the function)";
  return error;
}

}  // namespace kernelpro
