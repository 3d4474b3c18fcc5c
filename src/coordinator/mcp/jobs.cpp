#include "coordinator/mcp/jobs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/base/date.hpp"
#include "common/base/file.hpp"
#include "common/base/random.hpp"
#include "common/base/unique_fd.hpp"
#include "common/wire/json.hpp"
#include "coordinator/app/schema_check.hpp"

namespace kernelpro::mcp {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t most_jobs = 300;
constexpr std::size_t most_listed = 20;
// Each is a process, which waits for its turn to measure.
constexpr std::ptrdiff_t most_working = 32;
constexpr std::ptrdiff_t most_working_of_owner = 8;
constexpr std::size_t id_digits = 16;
// Until then somebody may still be about to take the lock of a new job.
constexpr auto start_time = std::chrono::seconds(60);

// An object, in which what we use has the type that we write.
Result<json> read_json(const fs::path& file) {
  static const json form = {{"type", "object"},
                            {"properties",
                             {{"tool", {{"type", "string"}}},
                              {"owner", {{"type", "string"}}},
                              {"created", {{"type", "string"}}},
                              {"state", {{"type", "string"}}},
                              {"message", {{"type", "string"}}},
                              {"error", {{"type", "string"}}},
                              {"done", {{"type", "number"}}},
                              {"of", {{"type", "number"}}},
                              {"result", {{"type", "object"}}}}}};
  KP_LET(const std::string text, read_file(file));
  KP_LET(json parsed, parse_json(text));
  const std::string wrong = schema_complaint(form, parsed);
  return wrong.empty() ? Result<json>(std::move(parsed))
                       : make_error(ErrorKind::io, wrong, file.string());
}

bool is_locked(const fs::path& folder) {
  const UniqueFd fd(::open((folder / "lock").c_str(), O_RDONLY | O_CLOEXEC));
  return fd.valid() && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0;
}

// A time far ahead is that of a clock which was set back since: it says nothing.
bool is_new(const fs::path& folder) {
  std::error_code error;
  const fs::file_time_type made = fs::last_write_time(folder / "request.json", error);
  const auto age = fs::file_time_type::clock::now() - made;
  return !error && age < start_time && age > -start_time;
}

bool is_working(const fs::path& folder) {
  return !fs::exists(folder / "result.json") && (is_locked(folder) || is_new(folder));
}

bool is_id(const std::string& text) {
  return text.size() == id_digits &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Folders of jobs, the newest first.
std::vector<fs::path> job_folders(const fs::path& store) {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(store / "jobs", error)) {
    const fs::file_time_type made = fs::last_write_time(entry.path() / "request.json", error);
    if (!error && is_id(entry.path().filename())) {
      found.emplace_back(made, entry.path());
    }
  }
  std::ranges::sort(found, std::greater());
  std::vector<fs::path> folders;
  std::ranges::transform(found, std::back_inserter(folders),
                         [](const auto& one) { return one.second; });
  return folders;
}

}  // namespace

Result<fs::path> Jobs::folder_of(const std::string& id) const {
  fs::path folder = store_ / "jobs" / (is_id(id) ? id : "none");
  if (!is_id(id) || !fs::exists(folder / "request.json") || !may_see(folder)) {
    return make_error(ErrorKind::bad_input,
                      "there is no such job; the tool job without an id lists the latest",
                      "job " + id.substr(0, 100));
  }
  return folder;
}

bool Jobs::may_see(const fs::path& folder) const {
  if (rights_.owner.empty()) {
    return true;
  }
  const Result<json> about = read_json(folder / "about.json");
  return about && about->value("owner", "") == rights_.owner;
}

Status Jobs::need_room(const std::vector<fs::path>& folders) const {
  const auto all = std::ranges::count_if(folders, is_working);
  const auto own =
      rights_.owner.empty() ? 0 : std::ranges::count_if(folders, [this](const auto& one) {
        return is_working(one) && may_see(one);
      });
  if (all < most_working && own < most_working_of_owner) {
    return {};
  }
  return make_error(ErrorKind::busy,
                    fmt::format("{} jobs are being worked on already: wait for one by the tool "
                                "job, or cancel one",
                                all < most_working ? own : all));
}

Result<std::string> Jobs::start(const std::string& tool, const json& arguments,
                                const std::string& client) {
  const std::vector<fs::path> folders = job_folders(store_);
  remove_old(folders);
  KP_TRY(need_room(folders));
  std::string id = fmt::format("{:016x}", secret_seed());
  const fs::path folder = store_ / "jobs" / id;
  KP_TRY(make_directories(folder));
  const json request = {{"tool", tool},
                        {"arguments", arguments},
                        {"client", client},
                        {"remote", rights_.remote},
                        {"store", fs::absolute(store_).string()}};
  // What is looked at again and again, without the sources.
  const json about = {{"tool", tool}, {"owner", rights_.owner}, {"created", utc_now()}};
  KP_TRY(write_file_unsynced(folder / "about.json", about.dump()));
  KP_TRY(write_file_unsynced(folder / "request.json", request.dump()));
  if (const Status begun = launch_(folder); !begun) {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    return begun.error();
  }
  return id;
}

Result<json> Jobs::look(const std::string& id) const {
  KP_LET(const fs::path folder, folder_of(id));
  KP_LET(const json about, read_json(folder / "about.json"));
  json view = {
      {"id", id}, {"tool", about.value("tool", "")}, {"created", about.value("created", "")}};
  if (fs::exists(folder / "cancel")) {
    view["state"] = "cancelled";
    return view;
  }
  const bool working = is_locked(folder) || is_new(folder);
  if (const Result<json> result = read_json(folder / "result.json"); result) {
    view.update(*result);
    return view;
  }
  if (!working) {
    view["state"] = "lost";
    view["error"] = "its process was ended from outside; call the tool again";
    return view;
  }
  view["state"] = "working";
  if (const Result<json> progress = read_json(folder / "progress.json"); progress) {
    view.update(*progress);
  }
  return view;
}

Status Jobs::cancel(const std::string& id) const {
  KP_LET(const fs::path folder, folder_of(id));
  return fs::exists(folder / "result.json") ? Status() : write_file_atomic(folder / "cancel", "");
}

json Jobs::latest() const {
  json list = json::array();
  for (const fs::path& folder : job_folders(store_)) {
    Result<json> view = list.size() < most_listed ? look(folder.filename()) : Result<json>(Error());
    if (view) {
      view->erase("result");
      list.push_back(std::move(*view));
    }
  }
  return list;
}

void Jobs::remove_old(const std::vector<fs::path>& folders) {
  for (std::size_t i = most_jobs; i < folders.size(); ++i) {
    std::error_code error;
    if (!is_working(folders[i])) {
      fs::remove_all(folders[i], error);
    }
  }
}

}  // namespace kernelpro::mcp
