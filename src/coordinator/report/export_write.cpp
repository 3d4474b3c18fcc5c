#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ranges>
#include <system_error>
#include <utility>

#include "common/base/file.hpp"
#include "coordinator/report/export.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

bool is_present(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() != fs::file_type::not_found;
}

Status rename_file(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) {
    errno = error.value();
    return errno_error("writing " + to.string());
  }
  return {};
}

// Makes a folder and its parents, remembers which were missing, and removes those again unless the
// export is kept.
class MadeFolders {
 public:
  MadeFolders() = default;
  MadeFolders(const MadeFolders&) = delete;
  MadeFolders& operator=(const MadeFolders&) = delete;
  ~MadeFolders() {
    std::error_code ignored;
    for (const fs::path& folder : std::views::reverse(made_)) {
      fs::remove(folder, ignored);
    }
  }

  [[nodiscard]] Status make(const fs::path& folder) {
    std::vector<fs::path> missing;
    for (fs::path at = folder; !at.empty() && !is_present(at); at = at.parent_path()) {
      missing.push_back(at);
    }
    made_.insert(made_.end(), missing.rbegin(), missing.rend());
    return make_directories(folder);
  }

  void keep() { made_.clear(); }

 private:
  std::vector<fs::path> made_;
};

// Files are written to a folder beside their places first, so that a full disk is met there; then
// they are moved. What they replace is kept until all have moved, and put back when one cannot.
class Staging {
 public:
  explicit Staging(fs::path directory) : directory_(std::move(directory)) {}
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging() {
    std::error_code ignored;
    for (const fs::path& path : moved_) {
      fs::remove(directory_ / path, ignored);
    }
    for (const fs::path& path : set_aside_) {
      fs::rename(folder_ / "old" / path, directory_ / path, ignored);
    }
    if (!folder_.empty()) {
      fs::remove_all(folder_, ignored);
    }
  }

  [[nodiscard]] Status write(const std::vector<ExportFile>& files) {
    std::string pattern = (directory_ / ".export-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      return errno_error("writing to the folder " + directory_.string());
    }
    folder_ = pattern;
    for (const ExportFile& file : files) {
      const fs::path path = folder_ / "new" / file.path;
      KP_TRY(make_directories(path.parent_path()));
      KP_TRY(write_file_atomic(path, file.content));
      if (file.executable) {
        std::error_code ignored;  // build.sh is called by sh
        fs::permissions(path,
                        fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                        fs::perm_options::add, ignored);
      }
    }
    return {};
  }

  [[nodiscard]] Status move(const fs::path& path) {
    if (is_present(directory_ / path)) {
      KP_TRY(make_directories((folder_ / "old" / path).parent_path()));
      KP_TRY(rename_file(directory_ / path, folder_ / "old" / path));
      set_aside_.push_back(path);
    }
    KP_TRY(rename_file(folder_ / "new" / path, directory_ / path));
    moved_.push_back(path);
    return {};
  }

  void keep() {
    moved_.clear();
    set_aside_.clear();
  }

 private:
  fs::path directory_;
  fs::path folder_;
  std::vector<fs::path> moved_;
  std::vector<fs::path> set_aside_;
};

Status check_paths(const fs::path& directory, const std::vector<ExportFile>& files,
                   bool overwrite) {
  std::vector<std::string> present;
  for (const ExportFile& file : files) {
    const bool inside = !file.path.empty() && file.path.is_relative() && file.path.has_filename() &&
                        std::none_of(file.path.begin(), file.path.end(), [](const fs::path& part) {
                          return part == ".." || part == ".";
                        });
    if (!inside) {
      return make_error(ErrorKind::bad_input,
                        fmt::format("the file name \"{}\" leads out of the exported folder; "
                                    "expected a plain relative path",
                                    file.path.string()));
    }
    std::error_code error;
    if (fs::is_directory(directory / file.path, error)) {
      return make_error(ErrorKind::bad_input,
                        "a folder is in the way of a file of that name; export to another folder",
                        (directory / file.path).string());
    }
    if (is_present(directory / file.path)) {
      present.push_back(file.path.string());
    }
  }
  if (!present.empty() && !overwrite) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("these files are there already: {}; export to another folder, or "
                                  "replace them with --overwrite",
                                  fmt::join(present, ", ")),
                      directory.string());
  }
  return {};
}

}  // namespace

Status check_export_place(const fs::path& directory) {
  std::error_code error;
  if (fs::exists(directory, error) && !fs::is_directory(directory, error)) {
    return make_error(ErrorKind::bad_input, "a file, expected a folder to export to",
                      directory.string());
  }
  if (is_present(directory / "certificate.json")) {
    return make_error(ErrorKind::bad_input,
                      "an export lies there already (certificate.json); name another folder",
                      directory.string());
  }
  return {};
}

Status write_export(const fs::path& directory, const std::vector<ExportFile>& files,
                    bool overwrite) {
  KP_TRY(check_paths(directory, files, overwrite));
  const fs::path target = fs::absolute(directory).lexically_normal();
  MadeFolders folders;
  KP_TRY(folders.make(target));
  Staging staging(target);
  KP_TRY(staging.write(files));
  for (const ExportFile& file : files) {
    KP_TRY(folders.make((target / file.path).parent_path()));
    KP_TRY(staging.move(file.path));
  }
  staging.keep();
  folders.keep();
  return {};
}

}  // namespace kernelpro
