#include "coordinator/app/own_patch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "common/base/file.hpp"
#include "common/base/hash.hpp"
#include "coordinator/app/own_layout.hpp"
#include "coordinator/report/diff.hpp"
#include "coordinator/task/inline_includes.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

constexpr const char* origin_name = "origin.json";

// The name of a file within a patch.
std::string patch_name(const fs::path& file, const fs::path& root) {
  std::error_code failed;
  const fs::path path = fs::weakly_canonical(file, failed);
  const fs::path relative = path.lexically_relative(fs::weakly_canonical(root, failed));
  const bool inside = !relative.empty() && *relative.begin() != "..";
  return (inside ? relative : path.filename()).generic_string();
}

std::string file_patch(const std::string& name, const std::string& before,
                       const std::string& rewritten) {
  if (same_program(before, rewritten)) {
    return "";
  }
  return unified_diff(before, in_layout_of(before, rewritten), "a/" + name, "b/" + name);
}

}  // namespace

Status write_origin(const fs::path& task_folder, const SourceOrigin& origin) {
  const nlohmann::json json = {
      {"file", origin.file.generic_string()}, {"hash", origin.hash}, {"function", origin.function}};
  return write_file_atomic(task_folder / origin_name, json.dump(2) + "\n");
}

Result<SourceOrigin> read_origin(const fs::path& task_folder) {
  const auto text = read_file(task_folder / origin_name);
  const auto json = text.ok() ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
  const bool whole = json.is_object() && json.size() == 3 &&
                     std::ranges::all_of(json, [](const auto& one) { return one.is_string(); });
  if (!whole || !json.contains("file") || !json.contains("hash") || !json.contains("function")) {
    return make_error(ErrorKind::bad_input,
                      "this task was not made of a file by `kernelpro optimize FILE:FUNCTION`, so "
                      "there is nothing to patch",
                      task_folder.string());
  }
  SourceOrigin origin;
  std::error_code failed;
  // STORE/tasks/NAME-HASH: the store lies in the folder that its paths begin at.
  origin.root = fs::weakly_canonical(task_folder, failed).parent_path().parent_path().parent_path();
  origin.file = json.value("file", "");
  origin.hash = json.value("hash", "");
  origin.function = json.value("function", "");
  return origin;
}

Result<std::string> make_patch(const SourceOrigin& origin, const std::string& own_source,
                               const std::string& about) {
  const fs::path file = origin.root / origin.file;  // which is `file` where that is absolute
  KP_LET(const std::string now, read_file(file));
  if (sha256(now) != origin.hash) {
    return make_error(ErrorKind::bad_input,
                      "it has changed since the run began, so no patch was written; `kernelpro "
                      "optimize` begins again with the file as it is now",
                      file.string());
  }
  const auto parts = take_includes_out(own_source);
  if (!parts) {
    return make_error(ErrorKind::bad_input,
                      "the candidate no longer tells which lines are of which header, so there is "
                      "no patch; `kernelpro export` gives it as one file",
                      file.string());
  }
  std::string patch = file_patch(patch_name(file, origin.root), now, parts->text);
  for (const auto& [name, text] : parts->headers) {
    KP_LET(const std::string header, read_file(origin.root / name));
    patch += file_patch(patch_name(origin.root / name, origin.root), header, text);
  }
  return patch.empty() ? std::string() : about + patch;
}

}  // namespace kernelpro
