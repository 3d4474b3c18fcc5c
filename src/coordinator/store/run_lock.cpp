#include "coordinator/store/run_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "common/base/deadline.hpp"
#include "common/base/file.hpp"
#include "coordinator/store/store.hpp"

namespace kernelpro {

RunLock::RunLock(RunLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

RunLock& RunLock::operator=(RunLock&& other) noexcept {
  if (this != &other) {
    UniqueFd before(std::exchange(fd_, std::exchange(other.fd_, -1)));
  }
  return *this;
}

RunLock::~RunLock() {
  UniqueFd ended(fd_);
}

namespace store {

namespace {

// is_locked holds the lock itself for a moment; whoever meets it then tries again this long.
constexpr std::int64_t patience_ms = 200;

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// "4711 host", for messages only.
void write_holder(int fd) {
  const std::string text = fmt::format("{} {}\n", ::getpid(), host_name());
  if (::ftruncate(fd, 0) == 0) {
    [[maybe_unused]] const ssize_t written = ::pwrite(fd, text.data(), text.size(), 0);
  }
}

Error held_error(int fd, const std::string& run) {
  std::array<char, 300> bytes{};
  const ssize_t count = ::pread(fd, bytes.data(), bytes.size(), 0);
  std::string text(bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  text.resize(std::min(text.size(), text.find('\n')));
  const std::size_t space = text.find(' ');
  const std::string pid = text.substr(0, space);
  if (space == std::string::npos || pid.empty() ||
      pid.find_first_not_of("0123456789") != std::string::npos) {
    return make_error(ErrorKind::environment,
                      fmt::format("another process is working on the run {}: wait for it, or end "
                                  "it and resume the run",
                                  run));
  }
  return make_error(ErrorKind::environment,
                    fmt::format("process {} on {} is working on the run {}: wait for it, or end it "
                                "(kill -INT {}) and resume the run",
                                pid, text.substr(space + 1), run, pid));
}

}  // namespace

Result<UniqueFd> take_lock(const std::filesystem::path& file, const std::string& run) {
  UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!fd.valid()) {
    return errno_error("opening the lock file " + file.string());
  }
  const Deadline deadline(patience_ms);
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return errno_error("locking " + file.string());
    }
    if (deadline.passed()) {
      return held_error(fd.get(), run);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(deadline.step(5)));
  }
  write_holder(fd.get());
  return fd;
}

bool is_locked(const std::filesystem::path& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  return fd.valid() && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace store

}  // namespace kernelpro
