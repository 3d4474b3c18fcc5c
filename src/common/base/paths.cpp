#include "common/base/paths.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <vector>

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

const std::string share_scheme = "share:";

// The value of an environment variable; an empty one counts as not set.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool lies_inside(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const fs::path inner = fs::weakly_canonical(path, error);
  const fs::path outer = fs::weakly_canonical(folder, error);
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

bool is_source_tree(const fs::path& folder) {
  std::error_code error;
  return is_folder(folder / "tasks") || fs::is_regular_file(folder / "CMakeLists.txt", error);
}

std::string home_directory() {
  std::string home = variable("HOME");
  if (!home.empty()) {
    return home;
  }
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> strings(16 * 1024);
  if (::getpwuid_r(::getuid(), &entry, strings.data(), strings.size(), &found) == 0 &&
      found != nullptr) {
    home = found->pw_dir;
  }
  return home;
}

}  // namespace

fs::path program_directory() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

Result<fs::path> sibling_program(const std::string& name) {
  fs::path path = program_directory() / name;
  if (::access(path.c_str(), X_OK) != 0) {
    return make_error(ErrorKind::environment,
                      "the program " + name + " is not beside this one (" + path.string() +
                          "); install KernelPro again, or build the target " + name);
  }
  return path;
}

Result<fs::path> share_directory() {
  if (const std::string given = variable("KERNELPRO_SHARE"); !given.empty()) {
    if (!is_folder(given)) {
      return make_error(ErrorKind::environment,
                        "KERNELPRO_SHARE names '" + given +
                            "', which is not a folder; set it to the folder that holds tasks/ and "
                            "include/, or unset it");
    }
    return fs::path(given);
  }
  const fs::path programs = program_directory();
  fs::path installed = (programs / ".." / "share" / "kernelpro").lexically_normal();
  if (is_folder(installed)) {
    return installed;
  }
  fs::path source = KERNELPRO_SOURCE_DIR;
  if (is_source_tree(source) && lies_inside(programs, source)) {
    return source;
  }
  return make_error(ErrorKind::environment,
                    "the data folder (tasks, headers, ceilings) was not found at " +
                        installed.string() +
                        "; install KernelPro again, or set KERNELPRO_SHARE to it");
}

fs::path cache_directory() {
  if (const std::string given = variable("KERNELPRO_CACHE"); !given.empty()) {
    return given;
  }
  // The XDG specification tells to ignore a relative path.
  if (const fs::path base = variable("XDG_CACHE_HOME"); base.is_absolute()) {
    return base / "kernelpro";
  }
  if (const std::string home = home_directory(); !home.empty()) {
    return fs::path(home) / ".cache" / "kernelpro";
  }
  return "/var/cache/kernelpro";
}

fs::path portable_path(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(fs::absolute(path, error), error);
  const fs::path from = fs::weakly_canonical(fs::absolute(folder, error), error);
  const fs::path seen = whole.lexically_relative(from);
  const auto steps_up = std::ranges::count(seen, fs::path(".."));
  const fs::path below_root = from.relative_path();
  const auto depth = std::distance(below_root.begin(), below_root.end());
  return seen.empty() || (steps_up > 0 && steps_up >= depth) ? whole : seen;
}

std::string kept_path(const fs::path& path, const fs::path& folder) {
  const Result<fs::path> share = share_directory();
  if (share.ok() && lies_inside(path, *share) && !lies_inside(path, folder)) {
    return share_scheme + portable_path(path, *share).string();
  }
  return portable_path(path, folder).string();
}

fs::path found_path(const std::string& kept, const fs::path& folder) {
  const Result<fs::path> share = share_directory();
  std::error_code error;
  if (share.ok() && kept.starts_with(share_scheme)) {
    return *share / kept.substr(share_scheme.size());
  }
  return (fs::weakly_canonical(fs::absolute(folder, error), error) / kept).lexically_normal();
}

}  // namespace kernelpro
