#include "common/base/file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "common/base/unique_fd.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

Status write_all(int fd, std::string_view content, const fs::path& path) {
  while (!content.empty()) {
    const ssize_t count = ::write(fd, content.data(), content.size());
    if (count >= 0) {
      content.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return errno_error("writing " + path.string());
    }
  }
  return {};
}

Status sync_file(int fd, const fs::path& path) {
  if (::fsync(fd) != 0 && errno != EINVAL && errno != EROFS) {
    return errno_error("writing " + path.string());
  }
  return {};
}

bool is_regular(int fd) {
  struct stat info{};
  return ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

// A file that did not exist before, in the folder of `path`. Its name does not depend on that of
// `path`, which may be as long as the file system allows.
Result<UniqueFd> open_neighbor(const fs::path& path, fs::path& neighbor) {
  static std::atomic<unsigned> counter{0};
  while (true) {
    const std::string name = ".kernelpro-" + std::to_string(::getpid()) + "-" +
                             std::to_string(counter.fetch_add(1)) + ".tmp";
    neighbor = path.parent_path() / name;
    UniqueFd fd(::open(neighbor.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (fd.valid()) {
      return fd;
    }
    if (errno != EEXIST && errno != EINTR) {
      return errno_error("writing " + path.string());
    }
  }
}

// Makes a rename last. Not every file system can sync a folder; the content is safe without.
void sync_folder(const fs::path& folder) {
  const UniqueFd fd(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.valid()) {
    ::fsync(fd.get());
  }
}

Status replace_file(const fs::path& path, std::string_view content, bool synced) {
  fs::path neighbor;
  KP_LET(UniqueFd fd, open_neighbor(path, neighbor));
  Status written = write_all(fd.get(), content, path);
  if (written.ok() && synced) {
    written = sync_file(fd.get(), path);
  }
  if (written.ok() && ::rename(neighbor.c_str(), path.c_str()) != 0) {
    written = errno_error("writing " + path.string());
  }
  if (!written.ok()) {
    ::unlink(neighbor.c_str());
  }
  return written;
}

// Gives the owner back the rights that whoever filled the folder may have taken away.
void unlock_folders(const fs::path& root) {
  std::error_code error;
  fs::permissions(root, fs::perms::owner_all, fs::perm_options::add, error);
  fs::recursive_directory_iterator entry(root, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (entry->symlink_status(ignored).type() == fs::file_type::directory) {
      fs::permissions(entry->path(), fs::perms::owner_all, fs::perm_options::add, ignored);
    }
  }
}

void remove_tree(const fs::path& root) {
  if (root.empty()) {
    return;
  }
  std::error_code error;
  fs::remove_all(root, error);
  if (error) {
    unlock_folders(root);
    fs::remove_all(root, error);
  }
}

constexpr std::string_view scratch_prefix = "kernelpro-";

// kernelpro-PURPOSE-PROCESS-XXXXXX. The process is there for people, and to tell folders that are
// locked from those of programs that did not lock theirs.
std::string scratch_pattern(std::string_view purpose) {
  return std::string(scratch_prefix) + std::string(purpose) + "-" + std::to_string(::getpid()) +
         "-XXXXXX";
}

bool is_scratch_name(const std::string& name) {
  constexpr std::size_t random_part = 7;  // "-XXXXXX"
  if (!name.starts_with(scratch_prefix) || name.size() <= random_part) {
    return false;
  }
  const std::string_view front(name.data(), name.size() - random_part);
  const std::size_t dash = front.rfind('-');
  const std::string_view process = front.substr(dash + 1);
  return name[front.size()] == '-' && dash >= scratch_prefix.size() && !process.empty() &&
         process.find_first_not_of("0123456789") == std::string_view::npos;
}

UniqueFd open_folder(const fs::path& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Whether `path` still leads to the open folder.
bool is_still_there(const fs::path& path, int folder) {
  struct stat named{};
  struct stat opened{};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(folder, &opened) == 0 &&
         named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
}

bool is_ours(int folder) {
  struct stat info{};
  return ::fstat(folder, &info) == 0 && info.st_uid == ::geteuid();
}

// The scratch folders that this process has now.
struct LiveScratch {
  std::mutex mutex;
  std::set<fs::path> paths;
};

LiveScratch& live_scratch() {
  static LiveScratch one;
  return one;
}

void add_live(const fs::path& path) {
  const std::lock_guard lock(live_scratch().mutex);
  live_scratch().paths.insert(path);
}

void remove_scratch(const fs::path& path) {
  remove_tree(path);
  const std::lock_guard lock(live_scratch().mutex);
  live_scratch().paths.erase(path);
}

}  // namespace

Error errno_error(const std::string& doing) {
  const int code = errno;
  std::string message = std::generic_category().message(code) + " (while " + doing + ")";
  if (code == ENOSPC || code == EDQUOT) {
    message += ": the disk is full; free some space and try again";
  }
  return make_error(ErrorKind::io, std::move(message));
}

Result<std::string> read_file(const fs::path& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    return errno_error("reading " + path.string());
  }
  std::string content;
  std::array<char, 64 * 1024> chunk;
  while (true) {
    const ssize_t count = ::read(fd.get(), chunk.data(), chunk.size());
    if (count == 0) {
      return content;
    }
    if (count > 0) {
      content.append(chunk.data(), static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return errno_error("reading " + path.string());
    }
    // A device such as /dev/zero has no end, and whoever is given its name would read for ever.
    constexpr std::size_t most_of_a_device = std::size_t{16} << 20U;
    if (content.size() > most_of_a_device && !is_regular(fd.get())) {
      return make_error(ErrorKind::bad_input, "this is no file, and it goes on and on",
                        path.string());
    }
  }
}

Status write_file_atomic(const fs::path& path, std::string_view content) {
  KP_TRY(replace_file(path, content, true));
  sync_folder(path.parent_path());
  return {};
}

Status write_file_unsynced(const fs::path& path, std::string_view content) {
  return replace_file(path, content, false);
}

Status make_directories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    errno = error.value();
    return errno_error("making the folder " + path.string());
  }
  return {};
}

Result<ScratchDir> ScratchDir::create(std::string_view purpose) {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  if (error) {
    return make_error(ErrorKind::environment,
                      "there is no temporary folder: " + error.message() +
                          "; set TMPDIR to a folder that exists and can be written to");
  }
  while (true) {
    std::string pattern = (folder / scratch_pattern(purpose)).string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      return errno_error("making a scratch folder " + pattern);
    }
    UniqueFd lock = open_folder(pattern);
    const bool taken = ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (taken || (lock.valid() && !is_still_there(pattern, lock.get()))) {
      continue;  // whoever removes abandoned folders was here before our lock
    }
    add_live(pattern);
    ScratchDir scratch(pattern, std::move(lock));
    if (::chmod(pattern.c_str(), 0711) != 0) {
      return errno_error("making a scratch folder " + pattern);
    }
    return scratch;
  }
}

void remove_abandoned_scratch() {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  fs::directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (!is_scratch_name(entry->path().filename().string())) {
      continue;
    }
    const UniqueFd scratch = open_folder(entry->path());
    if (scratch.valid() && is_ours(scratch.get()) &&
        ::flock(scratch.get(), LOCK_EX | LOCK_NB) == 0) {
      remove_tree(entry->path());
    }
  }
}

ScratchDir::ScratchDir(ScratchDir&& other) noexcept
    : path_(std::exchange(other.path_, std::filesystem::path())), lock_(std::move(other.lock_)) {}

ScratchDir& ScratchDir::operator=(ScratchDir&& other) noexcept {
  if (this != &other) {
    remove_scratch(path_);
    path_ = std::exchange(other.path_, std::filesystem::path());
    lock_ = std::move(other.lock_);
  }
  return *this;
}

ScratchDir::~ScratchDir() {
  remove_scratch(path_);
}

void remove_own_scratch() {
  std::set<fs::path> paths;
  {
    const std::lock_guard lock(live_scratch().mutex);
    paths = live_scratch().paths;
  }
  for (const fs::path& path : paths) {
    remove_tree(path);
  }
}

}  // namespace kernelpro
