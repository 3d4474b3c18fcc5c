// kernelpro-jail: takes away files, network, privileges and resources, then execs what it is given.
//
// All of it happens before exec and in one thread, because landlock binds the calling thread only:
// a program that has threads already would keep them outside. A program that starts others is
// guarded: one half of the jail stays, and ends with it all that it started.
#include <fcntl.h>
#include <grp.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "common/base/jail_policy.hpp"
#include "common/base/unique_fd.hpp"
#include "jail/guardian.hpp"

namespace {

using kernelpro::ErrorKind;
using kernelpro::JailPolicy;
using kernelpro::make_error;
using kernelpro::Result;
using kernelpro::Status;
using kernelpro::UniqueFd;

constexpr uid_t nobody = 65534;

// Access rights that newer kernels know and older headers may not name.
constexpr std::uint64_t access_refer = 1ULL << 13;
constexpr std::uint64_t access_truncate = 1ULL << 14;
constexpr std::uint64_t access_ioctl_dev = 1ULL << 15;
constexpr std::uint64_t access_net_all = 3;  // bind and connect TCP
constexpr std::uint64_t scope_all = 3;       // abstract sockets and signals

constexpr std::uint64_t read_file = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE;
constexpr std::uint64_t read_tree = read_file | LANDLOCK_ACCESS_FS_READ_DIR;

// The ruleset's attributes as of ABI 6; an older kernel takes the leading part it knows.
struct RulesetAttributes {
  std::uint64_t handled_access_fs = 0;
  std::uint64_t handled_access_net = 0;
  std::uint64_t scoped = 0;
};

kernelpro::Error system_error(const std::string& doing) {
  return make_error(ErrorKind::environment, std::strerror(errno), doing);
}

std::uint64_t handled_file_access(int abi) {
  std::uint64_t access = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
  access |= abi >= 2 ? access_refer : 0;
  access |= abi >= 3 ? access_truncate : 0;
  access |= abi >= 5 ? access_ioctl_dev : 0;
  return access;
}

std::size_t attributes_size(int abi) {
  if (abi >= 6) {
    return sizeof(RulesetAttributes);
  }
  return abi >= 4 ? 2 * sizeof(std::uint64_t) : sizeof(std::uint64_t);
}

// A path that does not exist is no error: what is not there cannot be reached either.
Status allow_path(int ruleset, const std::string& path, std::uint64_t file_access,
                  std::uint64_t tree_access) {
  const UniqueFd fd(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!fd.valid()) {
    return errno == ENOENT ? Status() : system_error("opening " + path + " for the jail");
  }
  struct stat info{};
  if (fstat(fd.get(), &info) != 0) {
    return system_error("looking at " + path);
  }
  landlock_path_beneath_attr rule{};
  rule.parent_fd = fd.get();
  rule.allowed_access = S_ISDIR(info.st_mode) ? tree_access : file_access;
  if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) {
    return system_error("allowing " + path);
  }
  return {};
}

Result<UniqueFd> make_ruleset(const JailPolicy& policy, const std::string& program) {
  const int abi = kernelpro::landlock_abi();
  if (abi < 2) {
    return make_error(ErrorKind::environment,
                      "this kernel has no landlock of ABI 2 (Linux 6.1 or later with landlock in "
                      "CONFIG_LSM); candidates cannot be confined");
  }
  const std::uint64_t handled = handled_file_access(abi);
  const RulesetAttributes attributes{handled, policy.network ? 0 : access_net_all, scope_all};
  UniqueFd ruleset(
      static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, attributes_size(abi), 0)));
  if (!ruleset.valid()) {
    return system_error("making a landlock ruleset");
  }
  const std::uint64_t write_file =
      (read_file | LANDLOCK_ACCESS_FS_WRITE_FILE | access_truncate) & handled;
  KP_TRY(allow_path(ruleset.get(), program, read_file, read_tree));
  for (const std::string& path : policy.read) {
    KP_TRY(allow_path(ruleset.get(), path, read_file, read_tree));
  }
  for (const std::string& path : policy.write) {
    KP_TRY(allow_path(ruleset.get(), path, write_file, handled & ~access_ioctl_dev));
  }
  for (const std::string& path : policy.devices) {
    const std::uint64_t drive = (write_file | access_ioctl_dev) & handled;
    KP_TRY(allow_path(ruleset.get(), path, drive, drive));
  }
  return ruleset;
}

Status set_limit(decltype(RLIMIT_AS) resource, std::int64_t value) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) {
    return system_error("reading a resource limit");
  }
  limit.rlim_max = std::min(limit.rlim_max, static_cast<rlim_t>(value));
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(resource, &limit) == 0 ? Status() : system_error("setting a resource limit");
}

Status set_limits(const JailPolicy& policy) {
  // Of 0 a program that cores are piped to takes no notice; at 1 byte the kernel gives it none.
  KP_TRY(set_limit(RLIMIT_CORE, 1));
  KP_TRY(set_limit(RLIMIT_NOFILE, policy.open_files));
  KP_TRY(set_limit(RLIMIT_FSIZE, policy.file_bytes));
  if (policy.memory_bytes > 0) {
    KP_TRY(set_limit(RLIMIT_AS, policy.memory_bytes));
  }
  if (policy.heap_bytes > 0) {
    KP_TRY(set_limit(RLIMIT_DATA, policy.heap_bytes));
  }
  if (policy.processes > 0) {
    KP_TRY(set_limit(RLIMIT_NPROC, policy.processes));
  }
  if (policy.cpu_seconds > 0) {
    KP_TRY(set_limit(RLIMIT_CPU, policy.cpu_seconds));
  }
  return {};
}

void close_other_fds(const JailPolicy& policy) {
  std::vector<unsigned> keep(policy.keep_fds.begin(), policy.keep_fds.end());
  std::sort(keep.begin(), keep.end());
  unsigned next = 3;
  for (const unsigned fd : keep) {
    if (fd > next) {
      syscall(SYS_close_range, next, fd - 1, 0);
    }
    next = std::max(next, fd + 1);
  }
  syscall(SYS_close_range, next, ~0U, 0);
}

Status drop_user(const JailPolicy& policy) {
  if (geteuid() != 0 || !policy.drop_user) {
    return {};
  }
  if (setgroups(0, nullptr) != 0 || setresgid(nobody, nobody, nobody) != 0 ||
      setresuid(nobody, nobody, nobody) != 0) {
    return system_error("becoming nobody");
  }
  return {};
}

// After the user has changed (which clears it): the jailed program never outlives its parent.
Status die_with_parent(pid_t parent) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
    return system_error("asking to die with the parent");
  }
  return getppid() == parent ? Status() : make_error(ErrorKind::lost, "the parent is gone already");
}

// When memory runs out, the kernel ends what is jailed and not who judges it. Anybody may offer
// himself so; where the file is not there, nothing is lost but that.
void go_first_when_memory_ends() {
  const UniqueFd score(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  [[maybe_unused]] const ssize_t written = write(score.get(), "1000", 4);
}

Status enter(const JailPolicy& policy, const std::string& program, pid_t parent) {
  go_first_when_memory_ends();
  UniqueFd ruleset;
  if (policy.landlock) {
    KP_LET(ruleset, make_ruleset(policy, program));
  }
  KP_TRY(set_limits(policy));
  KP_TRY(drop_user(policy));
  KP_TRY(die_with_parent(parent));
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return system_error("giving up new privileges");
  }
  if (ruleset.valid() && syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0) {
    return system_error("entering landlock");
  }
  return {};
}

int fail(const kernelpro::Error& error) {
  std::fprintf(stderr, "kernelpro-jail: %s\n", error.text().c_str());
  return kernelpro::jail_failed_exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  pid_t parent = getppid();
  const auto parsed =
      kernelpro::parse_jail_arguments(std::vector<std::string>(argv + 1, argv + argc));
  if (!parsed) {
    return fail(parsed.error());
  }
  close_other_fds(parsed->policy);
  // Opened before the user changes: nobody may be unable to walk to it.
  const UniqueFd program(open(parsed->program[0].c_str(), O_PATH | O_CLOEXEC));
  if (!program.valid()) {
    return fail(system_error("opening " + parsed->program[0]));
  }
  // Before the memory limit is in force.
  std::vector<char*> arguments;
  for (const std::string& argument : parsed->program) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  if (parsed->policy.guard) {
    const pid_t guardian = getpid();
    if (const Status guarded = kernelpro::continue_under_guard(parent, parsed->policy.tree_cpu_ms);
        !guarded) {
      return fail(guarded.error());
    }
    parent = guardian;
  }
  const Status entered = enter(parsed->policy, parsed->program[0], parent);
  if (!entered) {
    return fail(entered.error());
  }
  syscall(SYS_execveat, program.get(), "", arguments.data(), environ, AT_EMPTY_PATH);
  return fail(system_error("starting " + parsed->program[0]));
}
