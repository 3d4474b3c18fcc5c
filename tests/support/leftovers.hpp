// What programs of this build may leave behind: processes and files.
#pragma once

#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/base/file.hpp"
#include "common/base/set_variable.hpp"

namespace kernelpro::testing {

inline std::string first_argument(const std::filesystem::path& process) {
  std::ifstream file(process / "cmdline", std::ios::binary);
  std::string first;
  std::getline(file, first, '\0');
  return first;
}

// State and parent of a process; a process that is gone is dead and has none.
struct ProcessState {
  char state = 'X';
  pid_t parent = 0;
};

inline ProcessState state_of(const std::filesystem::path& process) {
  std::ifstream file(process / "stat");
  const std::string stat((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  ProcessState found;
  const std::size_t name_end = stat.rfind(')');
  if (name_end != std::string::npos) {
    std::istringstream(stat.substr(name_end + 1)) >> found.state >> found.parent;
  }
  return found;
}

// Not one that has ended and only waits for its parent to notice.
inline bool is_running(const std::filesystem::path& process) {
  const char state = state_of(process).state;
  return state != 'Z' && state != 'X';
}

// A process whose parent dies becomes our child, and stays known as one that this test started.
inline const bool adopts_orphans = prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;

inline bool descends_from_us(pid_t process) {
  while (process > 1 && process != getpid()) {
    process = state_of("/proc/" + std::to_string(process)).parent;
  }
  return process == getpid();
}

// Jails, runners, oracles and workers of this build that run because of this test:
// "4711 …/kernelpro-runner".
inline std::vector<std::string> own_processes() {
  std::vector<std::string> found;
  const std::string programs = std::string(KERNELPRO_BIN_DIR) + "/kernelpro-";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string program = first_argument(entry.path());
    if (program.starts_with(programs) && is_running(entry.path()) &&
        descends_from_us(state_of(entry.path()).parent)) {
      found.push_back(entry.path().filename().string() + " " + program);
    }
  }
  return found;
}

// The names in `folder` that begin with `prefix`.
inline std::set<std::string> names_in(const std::filesystem::path& folder,
                                      const std::string& prefix = {}) {
  std::set<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix)) {
      names.insert(name);
    }
  }
  return names;
}

// What is in `after` and was not in `before`.
inline std::set<std::string> appeared(const std::set<std::string>& before,
                                      const std::set<std::string>& after) {
  std::set<std::string> fresh;
  for (const std::string& name : after) {
    if (!before.contains(name)) {
      fresh.insert(name);
    }
  }
  return fresh;
}

// The lock of workers that need no undisturbed times: they neither wait for others nor make others
// wait. A case behind ALONE in tests/CMakeLists.txt needs them, and keeps the lock of the machine.
struct OwnLock {
  OwnLock() {
    if (std::getenv("KERNELPRO_TEST_ALONE") == nullptr && folder.ok()) {
      // Other users take it as well, as they do the machine's.
      constexpr mode_t for_all = 01777;
      if (chmod(folder->path().c_str(), for_all) != 0) {
        throw std::runtime_error("cannot share " + folder->path().string());
      }
      place.emplace("KERNELPRO_LOCK_DIR", folder->path().string());
    }
  }

  Result<ScratchDir> folder = ScratchDir::create("own-lock");
  std::optional<SetVariable> place;
};

// The environment of the workers that a test starts, until it goes. Builds and ceilings are kept
// beside the build, so that a second run is fast and no user's cache is touched. The temporary
// folder is a new one, so that what is left in it is known.
class WorkerEnvironment {
 public:
  WorkerEnvironment() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kp-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr || chmod(pattern.c_str(), 0711) != 0) {
      throw std::runtime_error("cannot make a folder like " + pattern);
    }
    scratch_ = pattern;
    keep("TMPDIR");
    keep("KERNELPRO_CACHE");
    setenv("KERNELPRO_CACHE", KERNELPRO_BUILD_DIR "/test-cache", 1);
    setenv("TMPDIR", scratch_.c_str(), 1);
  }
  ~WorkerEnvironment() {
    for (const auto& [name, value] : kept_) {
      if (value) {
        setenv(name.c_str(), value->c_str(), 1);
      } else {
        unsetenv(name.c_str());
      }
    }
    std::error_code ignored;
    std::filesystem::remove_all(scratch_, ignored);
  }
  WorkerEnvironment(const WorkerEnvironment&) = delete;
  WorkerEnvironment& operator=(const WorkerEnvironment&) = delete;

  [[nodiscard]] const std::filesystem::path& scratch() const { return scratch_; }

 private:
  void keep(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    kept_[name] = value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  }

  std::filesystem::path scratch_;
  std::map<std::string, std::optional<std::string>> kept_;
};

}  // namespace kernelpro::testing
