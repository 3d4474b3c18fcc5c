#include "common/base/machine_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>

#include "common/base/deadline.hpp"
#include "common/base/file.hpp"
#include "common/base/printable.hpp"

namespace kernelpro {
namespace {

std::string device_text(const std::string& device) {
  if (device == "cpu") {
    return "the CPU";
  }
  return device.starts_with("gpu-") ? "the GPU " + device.substr(4) : "the device " + device;
}

// Creates the file for everybody, or opens the one that is there. Never O_CREAT on an existing
// file: the kernel may forbid that for another user's file in a sticky folder
// (fs.protected_regular). Reading is enough to lock; writing is only for the holder's name.
Result<UniqueFd> open_lock_file(const std::string& path) {
  constexpr int common = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  for (int attempt = 0; attempt < 100; ++attempt) {
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | common, 0666));
    if (fd.valid()) {
      ::fchmod(fd.get(), 0666);  // whatever the umask says: other users take this lock too
      return fd;
    }
    if (errno == EEXIST) {
      fd.reset(::open(path.c_str(), O_RDWR | common));
      if (!fd.valid() && (errno == EACCES || errno == EPERM || errno == EROFS)) {
        fd.reset(::open(path.c_str(), O_RDONLY | common));
      }
    }
    if (fd.valid()) {
      return fd;
    }
    if (errno != ENOENT || !std::filesystem::exists(std::filesystem::path(path).parent_path())) {
      break;
    }
  }
  Error error = errno_error("opening the lock file " + path);
  error.message += "; set KERNELPRO_LOCK_DIR to a folder that all users of this machine share";
  return error;
}

// Whether the open file is still the one at `path`: somebody may have removed it meanwhile, and
// then the next process would lock another file.
bool is_current(int fd, const std::string& path) {
  struct stat open{};
  struct stat named{};
  return ::fstat(fd, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

void write_holder(int fd, LockMode mode) {
  struct stat info{};
  // A second name would mean that this is somebody's other file.
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_nlink != 1) {
    return;
  }
  const std::string text = std::to_string(::getpid()) +
                           (mode == LockMode::timing ? " timing " : " build ") +
                           program_invocation_short_name + "\n";
  if (::ftruncate(fd, 0) == 0) {
    // For messages only: without it they say "another process".
    [[maybe_unused]] const ssize_t written = ::pwrite(fd, text.data(), text.size(), 0);
  }
}

struct Holder {
  pid_t pid = 0;  // 0: unknown
  bool timing = true;
  std::string program;
};

// What the file says, unless that process is gone.
Holder read_holder(int fd) {
  std::array<char, 256> bytes{};
  const ssize_t count = ::pread(fd, bytes.data(), bytes.size(), 0);
  std::string text(bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  text = text.substr(0, text.find('\n'));
  Holder holder;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), holder.pid);
  const bool alive =
      error == std::errc() && holder.pid > 0 && (::kill(holder.pid, 0) == 0 || errno == EPERM);
  const std::size_t mode = static_cast<std::size_t>(end - text.data()) + 1;
  const std::size_t program = text.find(' ', mode);
  if (!alive || program == std::string::npos) {
    return {};
  }
  holder.timing = text.substr(mode, program - mode) == "timing";
  holder.program = text.substr(program + 1);
  return holder;
}

std::string proc_file(std::int64_t pid, const char* name) {
  const Result<std::string> content = read_file("/proc/" + std::to_string(pid) + "/" + name);
  return content ? *content : std::string();
}

// "1234 (name) S parent …": the name may hold anything, brackets too.
std::int64_t parent_of(std::int64_t pid) {
  const std::string text = proc_file(pid, "stat");
  const std::size_t close = text.rfind(") ");
  return close == std::string::npos || close + 4 > text.size()
             ? 0
             : std::strtoll(text.c_str() + close + 4, nullptr, 10);
}

Error busy_error(const std::string& device, const Holder& holder, std::int64_t timeout_ms) {
  const std::string command = command_behind(holder.pid);
  const std::string who = holder.pid == 0
                              ? "another process"
                              : "process " + std::to_string(holder.pid) + " (" + holder.program +
                                    (command.empty() ? "" : " of `" + command + "`") + ")";
  const std::string doing = holder.timing ? " is being timed by " : " is busy with a build of ";
  const std::string waited = timeout_ms % 1000 == 0 ? std::to_string(timeout_ms / 1000) + " s"
                                                    : std::to_string(timeout_ms) + " ms";
  return make_error(ErrorKind::busy, device_text(device) + doing + who + "; waited " + waited +
                                         ". Wait for it, or end it.");
}

}  // namespace

std::int64_t machine_lock_timeout_ms() {
  constexpr std::int64_t usual = 120'000;
  const char* text = std::getenv("KERNELPRO_LOCK_TIMEOUT_MS");
  const std::int64_t given = text != nullptr ? std::strtoll(text, nullptr, 10) : 0;
  return given > 0 ? given : usual;
}

std::string command_behind(std::int64_t worker) {
  const std::int64_t parent = worker > 0 ? parent_of(worker) : 0;
  std::string words = parent > 0 ? proc_file(parent, "cmdline") : "";
  constexpr std::size_t most = 80;
  const std::size_t name_end = words.find('\0');
  const std::string name = std::filesystem::path(words.substr(0, name_end)).filename().string();
  if (name != "kernelpro" || name_end == std::string::npos) {
    return "";
  }
  words = name + words.substr(name_end, words.size() - name_end - 1);
  for (char& letter : words) {
    letter = letter == '\0' ? ' ' : letter;
  }
  return words.size() > most ? printable(words.substr(0, most)) + "…" : printable(words);
}

std::string MachineLock::path(const std::string& device) {
  std::string name = device;
  for (char& letter : name) {
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= '0' && letter <= '9') || letter == '-' || letter == '_';
    letter = plain ? letter : '_';
  }
  // Not TMPDIR: users with different ones must meet at the same file.
  const char* given = std::getenv("KERNELPRO_LOCK_DIR");
  const std::string folder = given != nullptr && *given != '\0' ? given : "/tmp";
  return folder + "/kernelpro-" + name + ".lock";
}

Result<MachineLock> MachineLock::acquire(const std::string& device, LockMode mode,
                                         std::int64_t timeout_ms, std::stop_token stop) {
  const std::string file = path(device);
  const Deadline deadline(timeout_ms);
  const int operation = (mode == LockMode::timing ? LOCK_EX : LOCK_SH) | LOCK_NB;
  while (true) {
    KP_LET(UniqueFd fd, open_lock_file(file));
    while (is_current(fd.get(), file)) {
      if (::flock(fd.get(), operation) == 0) {
        if (!is_current(fd.get(), file)) {
          break;
        }
        write_holder(fd.get(), mode);
        return MachineLock(std::move(fd));
      }
      if (errno != EWOULDBLOCK && errno != EINTR) {
        return errno_error("locking " + file);
      }
      if (stop.stop_requested()) {
        return make_error(ErrorKind::interrupted,
                          "a stop was asked for while waiting for " + device_text(device));
      }
      if (deadline.passed()) {
        return busy_error(device, read_holder(fd.get()), timeout_ms);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(deadline.step(10)));
    }
  }
}

}  // namespace kernelpro
