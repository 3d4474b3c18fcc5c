#include "coordinator/llm/batch_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>
#include <thread>

#include "common/base/append.hpp"
#include "common/base/deadline.hpp"
#include "common/base/file.hpp"
#include "common/base/unique_fd.hpp"
#include "coordinator/llm/json_lines.hpp"
#include "coordinator/llm/json_parts.hpp"
#include "coordinator/llm/role_llm.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

// Writing a file takes milliseconds; who waits longer waits for a process that hangs.
constexpr std::int64_t patience_ms = 60'000;
constexpr std::int64_t step_ms = 5;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Open and locked; given back with the descriptor.
Result<UniqueFd> lock_file(const fs::path& file) {
  UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!fd.valid()) {
    return errno_error("opening " + file.string());
  }
  const Deadline deadline(patience_ms);
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return errno_error("locking " + file.string());
    }
    if (deadline.passed()) {
      return make_error(ErrorKind::busy,
                        "another process holds this folder of requests: wait for it, or end it",
                        file.string());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(deadline.step(step_ms)));
  }
  return fd;
}

Result<std::set<std::string>> read_names(const fs::path& file) {
  std::set<std::string> names;
  if (!is_there(file)) {
    return names;
  }
  KP_LET(const std::string text, read_file(file));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    names.insert(line);
  }
  return names;
}

using RequestReader = std::function<void(const BatchId& id, const std::string& line)>;

Status read_requests(const fs::path& file, const RequestReader& read) {
  if (!is_there(file)) {
    return {};
  }
  return read_json_lines(file, [&](const JsonLine& line) -> Status {
    const std::optional<BatchId> id = parse_batch_id(text_part(line.json, "custom_id"));
    if (!id) {
      return make_error(ErrorKind::bad_input,
                        "this is no request of a run: only kernelpro writes this file. Remove the "
                        "line, or name another folder",
                        line.place);
    }
    read(*id, line.text);
    return {};
  });
}

}  // namespace

fs::path batch_directory(const std::string& spec) {
  if (!spec.starts_with(batch_scheme)) {
    return {};
  }
  const fs::path path = fs::path(spec.substr(batch_scheme.size())).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

std::set<fs::path> batch_directories(const LlmSettings& settings) {
  std::set<fs::path> directories;
  for (const LlmRole role : llm_roles()) {
    const fs::path directory = batch_directory(llm_of(settings, role));
    if (!directory.empty() && (role != LlmRole::reviewer || settings.reviewer)) {
      directories.insert(directory);
    }
  }
  return directories;
}

Status BatchFolder::refuse_file() const {
  return is_there(directory_) && !fs::is_directory(directory_)
             ? make_error(ErrorKind::bad_input, "a file, expected the folder of a batch",
                          directory_.string())
             : Status();
}

Status BatchFolder::check_usable() const {
  KP_TRY(refuse_file());
  std::vector<fs::path> missing;  // the innermost first
  for (fs::path at = fs::absolute(directory_); !is_there(at) && at.has_relative_path();
       at = at.parent_path()) {
    missing.push_back(at);
  }
  const Status made = make_directories(directory_);
  const bool writable = made && ::access(directory_.c_str(), W_OK | X_OK) == 0;
  for (const fs::path& one : missing) {
    std::error_code not_there;
    fs::remove(one, not_there);
  }
  if (!made) {
    return make_error(ErrorKind::bad_input,
                      "the folder of the batch cannot be made: " + made.error().text(),
                      directory_.string());
  }
  return writable ? Status()
                  : make_error(ErrorKind::bad_input,
                               "nobody may write into that folder, where requests are to be put",
                               directory_.string());
}

Result<BatchFolder::Content> BatchFolder::read() const {
  KP_TRY(refuse_file());
  Content content;
  KP_LET(std::set<std::string> runs, read_names(runs_file()));
  content.runs = std::move(runs);
  KP_TRY(read_requests(requests_file(), [&](const BatchId& id, const std::string&) {
    content.open.push_back(id);
    content.runs.insert(id.run);
  }));
  return content;
}

Status BatchFolder::replace(const std::string& run, const std::vector<std::string>& lines) const {
  KP_TRY(make_directories(directory_));
  KP_LET(const UniqueFd lock, lock_file(runs_file()));
  KP_LET(const std::set<std::string> runs, read_names(runs_file()));
  if (!runs.contains(run)) {
    KP_TRY(append_durably(lock.get(), run + "\n", runs_file()));
  }
  std::string text;
  KP_TRY(read_requests(requests_file(), [&](const BatchId& id, const std::string& line) {
    text += id.run == run ? "" : line + "\n";
  }));
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return write_file_atomic(requests_file(), text);
}

}  // namespace kernelpro
