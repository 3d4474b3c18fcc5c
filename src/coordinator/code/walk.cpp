#include "coordinator/code/walk.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "coordinator/code/file_kind.hpp"

namespace kernelpro::code {

namespace {

namespace fs = std::filesystem;

class Walker {
 public:
  explicit Walker(fs::path folder) : folder_(std::move(folder)) {}

  Result<Walk> walk() {
    std::error_code error;
    fs::directory_iterator first(folder_, error);
    if (error) {
      return make_error(ErrorKind::bad_input,
                        "cannot be read as a folder (" + error.message() +
                            "): name a folder that is there and that you may read",
                        folder_.string());
    }
    look_into(std::move(first), "");
    while (!waiting_.empty()) {
      const std::string next = std::move(waiting_.back());
      waiting_.pop_back();
      fs::directory_iterator entries(folder_ / next, error);
      if (error) {
        found_.unreadable.push_back(next);
      } else {
        look_into(std::move(entries), next);
      }
    }
    std::sort(found_.files.begin(), found_.files.end(),
              [](const FoundFile& a, const FoundFile& b) { return a.path < b.path; });
    return std::move(found_);
  }

 private:
  void look_into(fs::directory_iterator entries, const std::string& prefix) {
    std::error_code error;
    for (; entries != fs::directory_iterator(); entries.increment(error)) {
      take(*entries, prefix + entries->path().filename().string());
      if (error) {
        break;
      }
    }
    if (error) {
      found_.unreadable.push_back(prefix);
    }
  }

  void take(const fs::directory_entry& entry, const std::string& path) {
    std::error_code error;
    const fs::file_status status = entry.symlink_status(error);
    if (entry.path().filename().string().front() == '.') {
      return;
    }
    if (fs::is_directory(status)) {
      waiting_.push_back(path + "/");
    } else if (fs::is_regular_file(status) && is_read(path)) {
      take_file(entry, path);
    }
  }

  void take_file(const fs::directory_entry& entry, const std::string& path) {
    std::error_code error;
    const auto size = static_cast<std::int64_t>(entry.file_size(error));
    const auto changed = error ? fs::file_time_type() : entry.last_write_time(error);
    if (error) {
      found_.unreadable.push_back(path);
    } else if (size > largest_file) {
      found_.too_large.push_back(path);
    } else {
      found_.files.push_back({.path = path,
                              .place = path,
                              .size = size,
                              .changed = changed.time_since_epoch().count()});
    }
  }

  fs::path folder_;
  Walk found_;
  std::vector<std::string> waiting_;  // folders, each ending in `/`
};

}  // namespace

Result<Walk> walk_folder(const fs::path& folder) {
  return Walker(folder).walk();
}

}  // namespace kernelpro::code
