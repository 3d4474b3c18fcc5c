#include "worker/toolchain/workplace.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <system_error>
#include <utility>

#include "common/base/jail_policy.hpp"
#include "common/base/memory.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

// How much longer a build may take than the processors work for it: others may build beside it.
constexpr std::int64_t most_stretch = 10;
constexpr uid_t nobody = 65534;  // whom kernelpro-jail becomes when it is started as root

// For one program: enough for the largest honest templates, and not what the judge itself needs.
std::int64_t compiler_memory() {
  constexpr std::int64_t gibibyte = 1LL << 30;
  const std::int64_t half = physical_memory_bytes() / 2;
  return half > 0 ? std::clamp(half, 2 * gibibyte, 8 * gibibyte) : 8 * gibibyte;
}

// What compilers, assembler, linker and the programs they make need of the system. Symbolic links
// (/etc/alternatives) need no entry: landlock looks at the file that is opened in the end.
// /proc/cpuinfo is how -mcpu=native knows the processor on arm64.
const std::vector<std::string>& system_paths() {
  static const std::vector<std::string> paths = {
      "/usr/bin",       "/bin",
      "/usr/lib",       "/lib",
      "/usr/lib64",     "/lib64",
      "/usr/libexec",   "/usr/include",
      "/usr/local/lib", "/usr/local/include",
      "/proc/cpuinfo",  "/etc/ld.so.cache",
  };
  return paths;
}

Status hand_over(const fs::path& path, fs::perms mode) {
  std::error_code failure;
  fs::permissions(path, mode, failure);
  if (failure) {
    return make_error(ErrorKind::io, failure.message(), "setting the mode of " + path.string());
  }
  if (geteuid() == 0 && chown(path.c_str(), nobody, nobody) != 0) {
    return errno_error("giving " + path.string() + " to the jailed user");
  }
  return {};
}

Status make_folder(const fs::path& path) {
  KP_TRY(make_directories(path));
  return hand_over(path, fs::perms::owner_all);
}

// Not write_file_atomic: nobody reads a scratch file while it is written, and syncing costs time.
Status write_plain(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) {
    return make_error(ErrorKind::io,
                      "could not be written; free space there, or set TMPDIR to another folder",
                      path.string());
  }
  // nvcc writes the time of a source into device code; equal builds are to be equal.
  const std::array<timespec, 2> long_ago{};
  if (utimensat(AT_FDCWD, path.c_str(), long_ago.data(), 0) != 0) {
    return errno_error("setting the time of " + path.string());
  }
  return hand_over(path, fs::perms::owner_read | fs::perms::owner_write);
}

Status lay_headers(const fs::path& from, const fs::path& to) {
  KP_TRY(make_folder(to));
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(from, failure)) {
    const fs::path target = to / entry.path().filename();
    if (entry.is_directory()) {
      KP_TRY(lay_headers(entry.path(), target));
      continue;
    }
    KP_LET(const std::string text, read_file(entry.path()));
    KP_TRY(write_plain(target, text));
  }
  if (failure) {
    return make_error(ErrorKind::environment,
                      failure.message() +
                          "; the candidate header is expected there: reinstall "
                          "KernelPro or set KERNELPRO_SHARE",
                      from.string());
  }
  return {};
}

}  // namespace

Status lay_below(const fs::path& root, const std::string& path, std::string_view text) {
  std::error_code failure;
  fs::path folder = root;
  for (const fs::path& part : fs::path(path).parent_path()) {
    folder /= part;
    if (!fs::is_directory(folder, failure)) {
      KP_TRY(make_folder(folder));
    }
  }
  return write_plain(root / path, text);
}

Result<Workplace> Workplace::create(const fs::path& abi_include) {
  KP_LET(ScratchDir scratch, ScratchDir::create("build"));
  Workplace made(std::move(scratch));
  KP_TRY(make_folder(made.source_folder()));
  KP_TRY(make_folder(made.output_folder()));
  KP_TRY(make_folder(made.header_folder()));
  KP_TRY(make_folder(made.root() / "abi"));
  if (!abi_include.empty()) {
    KP_TRY(lay_headers(abi_include / "kernelpro", made.root() / "abi" / "kernelpro"));
  }
  return made;
}

Status Workplace::lay_source(const std::string& name, std::string_view text) const {
  return write_plain(source_folder() / name, text);
}

Status Workplace::lay_header(const std::string& path, std::string_view text) const {
  return lay_below(header_folder(), path, text);
}

std::uintmax_t Workplace::output_bytes() const {
  std::uintmax_t total = 0;
  std::error_code failure;
  fs::recursive_directory_iterator entry(output_folder(), failure);
  for (; !failure && entry != fs::recursive_directory_iterator(); entry.increment(failure)) {
    std::error_code ignored;
    const bool plain = fs::is_regular_file(entry->symlink_status(ignored));
    const std::uintmax_t bytes = plain ? entry->file_size(ignored) : 0;
    total += ignored ? 0 : bytes;
  }
  return total;
}

std::uintmax_t Workplace::output_bytes(const std::string& name) const {
  std::error_code failure;
  const std::uintmax_t bytes = fs::file_size(output_folder() / name, failure);
  return failure ? 0 : bytes;
}

Result<std::string> Workplace::read_output(const std::string& name) const {
  const fs::path path = output_folder() / name;
  std::error_code failure;
  if (!fs::is_regular_file(fs::symlink_status(path, failure))) {
    return make_error(ErrorKind::io, "the compiler left no plain file here", path.string());
  }
  return read_file(path);
}

Result<Finished> Workplace::run(const fs::path& jail, bool landlock, const JailedRun& what,
                                std::stop_token stop) const {
  JailPolicy policy;
  policy.read = system_paths();
  policy.read.push_back(source_folder().string());
  policy.read.push_back((root() / "abi").string());
  policy.read.push_back(header_folder().string());
  policy.read.insert(policy.read.end(), what.read.begin(), what.read.end());
  policy.write = {output_folder().string()};
  policy.memory_bytes = compiler_memory();
  policy.file_bytes = what.file_bytes;
  policy.landlock = landlock;
  policy.guard = true;
  policy.tree_cpu_ms = what.cpu_ms;
  // Beside that limit, which somebody must be there to keep.
  policy.cpu_seconds = what.cpu_ms / 1000 + 5;

  Command command;
  command.guarded = true;
  command.arguments = jail_arguments(jail.string(), policy, what.program);
  command.directory = source_folder().string();
  command.timeout_ms = most_stretch * what.cpu_ms;
  // SOURCE_DATE_EPOCH: __DATE__ and __TIME__ do not make two builds of one source differ.
  command.environment = {{"PATH", "/usr/bin:/bin"},
                         {"LC_ALL", "C"},
                         {"HOME", output_folder().string()},
                         {"TMPDIR", output_folder().string()},
                         {"SOURCE_DATE_EPOCH", "0"}};
  Result<Finished> finished = run_command(command, std::move(stop));
  if (finished && finished->signal == 0 && finished->exit_code == jail_failed_exit_code) {
    return make_error(ErrorKind::environment, finished->errors, "starting " + what.program[0]);
  }
  if (finished && finished->signal == SIGXCPU) {
    finished->timed_out = true;
  }
  return finished;
}

std::string Workplace::without_own_path(std::string text) const {
  const std::string own = root().string();
  for (std::size_t at = text.find(own); at != std::string::npos; at = text.find(own, at)) {
    text.replace(at, own.size(), ".");
  }
  return text;
}

}  // namespace kernelpro
