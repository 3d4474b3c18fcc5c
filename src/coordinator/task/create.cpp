#include "coordinator/task/create.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <system_error>
#include <utility>

#include "common/base/file.hpp"
#include "coordinator/task/generate.hpp"
#include "coordinator/task/inline_includes.hpp"
#include "coordinator/task/lexer.hpp"
#include "coordinator/task/load.hpp"
#include "coordinator/task/plan.hpp"
#include "coordinator/task/real_source.hpp"
#include "coordinator/task/signature.hpp"

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

Status check_request(const NewTask& request, const fs::path& folder) {
  if (!is_task_name(request.name)) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("\"{}\" is not a task's name: expected a lower-case letter, then "
                                  "lower-case letters, digits and underscores",
                                  request.name));
  }
  std::error_code failed;
  if (fs::exists(fs::symlink_status(folder, failed))) {
    return make_error(ErrorKind::bad_input,
                      "this already exists and is not written over; choose another name or remove "
                      "it",
                      folder.string());
  }
  if (!fs::is_regular_file(request.source, failed)) {
    return make_error(ErrorKind::bad_input, "there is no such file; expected a C++ source (--from)",
                      request.source.string());
  }
  return {};
}

bool uses_openmp(const std::string& source) {
  const auto tokens = lex_cpp(source);
  return std::any_of(tokens.begin(), tokens.end(), [](const Token& token) {
    return token.directive == "pragma" && token.text == "omp";
  });
}

// A folder that vanishes with its owner unless it was kept under its final name.
class DraftFolder {
 public:
  explicit DraftFolder(const fs::path& final_path)
      : final_(final_path),
        path_(final_path.parent_path() /
              fmt::format(".{}.{}", final_path.filename().string(), ::getpid())) {}
  DraftFolder(const DraftFolder&) = delete;
  DraftFolder& operator=(const DraftFolder&) = delete;
  ~DraftFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  [[nodiscard]] const fs::path& path() const { return path_; }

  [[nodiscard]] Status keep() const {
    std::error_code failed;
    fs::rename(path_, final_, failed);
    if (failed) {
      return make_error(ErrorKind::io, "the new task could not be put there: " + failed.message(),
                        final_.string());
    }
    return {};
  }

  // An error of the draft, told with the final name.
  [[nodiscard]] Error renamed(Error error) const {
    const std::string draft = path_.string();
    if (error.context.starts_with(draft)) {
      error.context.replace(0, draft.size(), final_.string());
    }
    error.message += " (nothing was written; correct the flags or the function)";
    return error;
  }

 private:
  fs::path final_;
  fs::path path_;
};

}  // namespace

Result<fs::path> create_task(const NewTask& request) {
  const fs::path folder = request.directory / request.name;
  KP_TRY(check_request(request, folder));
  const auto source = inline_includes(request.source);
  if (!source.ok()) {
    return source.error();
  }
  const std::string file = request.source.string();
  const auto signature = parse_signature(*source, request.entry, file);
  if (!signature.ok()) {
    return signature.error();
  }
  const auto plan = plan_task(request, *signature);
  if (!plan.ok()) {
    return plan.error();
  }
  const auto real_source = to_real(*source, file);
  if (!real_source.ok()) {
    return real_source.error();
  }
  const DraftFolder draft(folder);
  KP_TRY(make_directories(draft.path()));
  KP_TRY(write_file_atomic(draft.path() / "task.toml", generate_toml(*plan, uses_openmp(*source))));
  KP_TRY(
      write_file_atomic(draft.path() / "reference.hpp", generate_reference(*plan, *real_source)));
  KP_TRY(write_file_atomic(draft.path() / "baseline.cpp", generate_baseline(*plan, *source)));
  if (const auto task = load_task(draft.path()); !task.ok()) {
    return draft.renamed(task.error());
  }
  KP_TRY(draft.keep());
  return folder;
}

}  // namespace kernelpro
