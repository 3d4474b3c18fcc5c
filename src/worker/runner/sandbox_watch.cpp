#include "worker/runner/sandbox_watch.hpp"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "worker/runner/wait_bell.hpp"

namespace kernelpro {

namespace {

constexpr std::size_t max_recorded = 16;
// The kernel remembers each name that it was asked for, also of files that do not exist, until it
// needs the memory. No kernel asks for more than some libraries.
constexpr std::int64_t most_lookups = 16'384;

struct NamedCall {
  long number;
  const char* name;
};

// The calls that attacks are made of, for readable evidence; others are shown by number.
constexpr NamedCall named_calls[] = {
    {SYS_execve, "execve"},
    {SYS_execveat, "execveat"},
    {SYS_socket, "socket"},
    {SYS_socketpair, "socketpair"},
    {SYS_connect, "connect"},
    {SYS_bind, "bind"},
    {SYS_tkill, "tkill"},
    {SYS_ptrace, "ptrace"},
    {SYS_process_vm_readv, "process_vm_readv"},
    {SYS_process_vm_writev, "process_vm_writev"},
    {SYS_pidfd_open, "pidfd_open"},
    {SYS_memfd_create, "memfd_create"},
    {SYS_ftruncate, "ftruncate"},
    {SYS_fallocate, "fallocate"},
    {SYS_io_uring_setup, "io_uring_setup"},
    {SYS_userfaultfd, "userfaultfd"},
    {SYS_perf_event_open, "perf_event_open"},
    {SYS_bpf, "bpf"},
    {SYS_seccomp, "seccomp"},
    {SYS_prctl, "prctl"},
    {SYS_prlimit64, "prlimit64"},
    {SYS_setpriority, "setpriority"},
    {SYS_sched_setaffinity, "sched_setaffinity"},
    {SYS_sched_setscheduler, "sched_setscheduler"},
    {SYS_timer_create, "timer_create"},
    {SYS_setitimer, "setitimer"},
    {SYS_unlinkat, "unlinkat"},
    {SYS_mkdirat, "mkdirat"},
    {SYS_mlockall, "mlockall"},
    {SYS_setsid, "setsid"},
    {SYS_setpgid, "setpgid"},
    {SYS_shmget, "shmget"},
    {SYS_wait4, "wait4"},
    {SYS_dup, "dup"},
    {SYS_dup3, "dup3"},
    {SYS_pipe2, "pipe2"},
    {SYS_ioctl, "ioctl"},
    {SYS_unshare, "unshare"},
    {SYS_mount, "mount"},
#if defined(__x86_64__)
    {SYS_fork, "fork"},
    {SYS_vfork, "vfork"},
    {SYS_unlink, "unlink"},
    {SYS_dup2, "dup2"},
    {SYS_alarm, "alarm"},
#endif
};

struct PathCall {
  long number;
  const char* name;
  int argument;  // which argument is the path; the one before it, if any, is its folder
  int flags;     // which argument has the open flags; -1: none
};

constexpr PathCall path_calls[] = {
    {SYS_openat, "open", 1, 2},        {SYS_faccessat, "access", 1, -1},
    {SYS_faccessat2, "access", 1, -1}, {SYS_readlinkat, "readlink", 1, -1},
#if defined(__x86_64__)
    {SYS_open, "open", 0, 1},          {SYS_access, "access", 0, -1},
    {SYS_readlink, "readlink", 0, -1},
#endif
};

// They tell whether a file exists, which is no secret, and are only counted.
constexpr long stat_calls[] = {
    SYS_newfstatat,
    SYS_statx,
#if defined(__x86_64__)
    SYS_stat,
    SYS_lstat,
#endif
};

// What the C, OpenMP and BLAS runtimes look at by themselves; they do without when refused.
constexpr std::string_view quiet_prefixes[] = {
    "/sys/",         "/proc/cpuinfo", "/proc/meminfo",     "/proc/stat",      "/proc/version",
    "/proc/loadavg", "/proc/uptime",  "/proc/filesystems", "/proc/sys/vm/",   "/proc/sys/kernel/",
    "/dev/shm",      "/dev/null",     "/dev/zero",         "/dev/full",       "/dev/random",
    "/dev/urandom",  "/tmp/__KMP_",   "/etc/localtime",    "/usr/lib/locale/"};

// What a process may ask about itself, under any name of its own folder in /proc: collectors of
// garbage look for their stacks in `maps`, other runtimes for limits and processors in the rest.
constexpr std::string_view quiet_about_itself[] = {
    "",       "maps", "smaps", "status",    "stat", "statm",   "auxv", "cgroup",
    "limits", "task", "comm",  "mountinfo", "io",   "cmdline", "exe",  "schedstat"};

// Calls that fail harmlessly everywhere and that runtimes make.
constexpr long quiet_calls[] = {SYS_ioctl,
                                SYS_set_mempolicy,
                                SYS_get_mempolicy,
                                SYS_mbind,
                                SYS_getpriority,
                                SYS_sched_getattr,
                                SYS_sched_rr_get_interval,
                                SYS_get_robust_list,
                                SYS_getresuid,
                                SYS_getresgid,
                                SYS_getgroups,
                                SYS_getcwd,
                                SYS_statfs,
                                SYS_fstatfs};

// What prctl is asked and not told, and what it is told of the caller's own memory and clock.
constexpr unsigned long long quiet_options[] = {PR_GET_PDEATHSIG,    PR_GET_DUMPABLE,
                                                PR_GET_KEEPCAPS,     PR_CAPBSET_READ,
                                                PR_GET_TIMERSLACK,   PR_SET_TIMERSLACK,
                                                PR_GET_NO_NEW_PRIVS, PR_GET_THP_DISABLE,
                                                PR_SET_THP_DISABLE,  PR_GET_SECCOMP,
                                                PR_GET_FPEXC,        PR_GET_SPECULATION_CTRL,
                                                50 /* SVE_SET_VL */, 51 /* SVE_GET_VL */};

bool fails_quietly(int call, const unsigned long long* arguments) {
  if (call == SYS_prctl) {
    return std::ranges::find(quiet_options, arguments[0]) != std::end(quiet_options);
  }
  return std::ranges::find(quiet_calls, call) != std::end(quiet_calls);
}

// What follows `folder` in a path that is it or within it; nothing for other paths.
std::optional<std::string_view> within(std::string_view path, std::string_view folder) {
  if (path == folder) {
    return std::string_view();
  }
  const bool inside = path.starts_with(folder) && path[folder.size()] == '/';
  return inside ? std::optional(path.substr(folder.size() + 1)) : std::nullopt;
}

// In its own folder, or in that of the thread that asks.
bool asks_about_itself(std::string_view resolved, const Asker& asker) {
  const std::string process = "/proc/" + std::to_string(asker.process);
  const std::string thread = process + "/task/" + std::to_string(asker.thread);
  for (const std::string& folder : {thread, process}) {
    if (const std::optional<std::string_view> rest = within(resolved, folder)) {
      return std::ranges::find(quiet_about_itself, *rest) != std::end(quiet_about_itself);
    }
  }
  return false;
}

bool begins_quietly(std::string_view path) {
  return std::ranges::any_of(quiet_prefixes,
                             [path](std::string_view one) { return path.starts_with(one); });
}

bool goes_up(std::string_view path) {
  return path.find("/..") != std::string_view::npos;
}

bool is_within(std::string_view resolved, const std::vector<std::string>& allowed) {
  return std::ranges::any_of(
      allowed, [&](const std::string& one) { return within(resolved, one).has_value(); });
}

std::string signal_text(unsigned long long signal) {
  const char* name = sigabbrev_np(static_cast<int>(signal));
  return name != nullptr ? std::string("SIG") + name : std::to_string(static_cast<int>(signal));
}

struct NamedValue {
  std::uint32_t value;
  const char* name;
};

constexpr NamedValue named_advice[] = {{MADV_REMOVE, "MADV_REMOVE"},
                                       {MADV_MERGEABLE, "MADV_MERGEABLE"},
                                       {MADV_HWPOISON, "MADV_HWPOISON"},
                                       {20, "MADV_COLD"},
                                       {21, "MADV_PAGEOUT"},
                                       {22, "MADV_POPULATE_READ"},
                                       {23, "MADV_POPULATE_WRITE"},
                                       {25, "MADV_COLLAPSE"},
                                       {MADV_UNMERGEABLE, "MADV_UNMERGEABLE"}};

constexpr NamedValue named_commands[] = {
    {F_SETFL, "F_SETFL and O_ASYNC"}, {F_SETOWN, "F_SETOWN"},        {F_SETSIG, "F_SETSIG"},
    {F_SETOWN_EX, "F_SETOWN_EX"},     {F_SETLEASE, "F_SETLEASE"},    {F_NOTIFY, "F_NOTIFY"},
    {F_ADD_SEALS, "F_ADD_SEALS"},     {F_SETPIPE_SZ, "F_SETPIPE_SZ"}};

template <std::size_t Count>
std::string value_text(const NamedValue (&known)[Count], unsigned long long value) {
  for (const NamedValue& named : known) {
    if (named.value == static_cast<std::uint32_t>(value)) {
      return named.name;
    }
  }
  return std::to_string(static_cast<std::uint32_t>(value));
}

// The argument that makes an offense of a call which is otherwise free; empty for other calls.
std::string offense_of(int call, const unsigned long long* arguments) {
  switch (call) {
    case SYS_clone:
      return (arguments[0] & CLONE_VFORK) != 0 ? "clone with CLONE_VFORK" : "fork";
    case SYS_kill:
    case SYS_rt_sigqueueinfo:
      return "kill with " + signal_text(arguments[1]);
    case SYS_tgkill:
    case SYS_rt_tgsigqueueinfo:
      return "tgkill with " + signal_text(arguments[2]);
    case SYS_madvise:
      return "madvise with " + value_text(named_advice, arguments[2]);
    case SYS_fcntl:
      return "fcntl with " + value_text(named_commands, arguments[1]);
    default:
      return {};
  }
}

std::string name_of_call(int call) {
  for (const NamedCall& named : named_calls) {
    if (named.number == call) {
      return named.name;
    }
  }
  return "system call " + std::to_string(call);
}

}  // namespace

SandboxWatch::SandboxWatch(UniqueFd listener, pid_t runner, std::vector<std::string> readable,
                           std::vector<std::string> writable)
    : listener_(std::move(listener)),
      runner_(runner),
      readable_(std::move(readable)),
      writable_(std::move(writable)) {}

void SandboxWatch::answer() {
  // The kernel's struct may be larger than the one we were built with.
  alignas(8) std::array<char, 512> buffer{};
  auto* request = reinterpret_cast<seccomp_notif*>(buffer.data());
  // There is no way to ask without waiting, and what poll saw may be gone by now.
  const WaitBell bell;
  if (ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, request) != 0) {
    return;
  }
  const Answer decision =
      decide({runner_, static_cast<pid_t>(request->pid)}, request->data.nr, request->data.args);
  alignas(8) std::array<char, 512> answer_buffer{};
  auto* response = reinterpret_cast<seccomp_notif_resp*>(answer_buffer.data());
  response->id = request->id;
  if (decision.go_on) {
    response->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  } else {
    response->error = -decision.error;
  }
  ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, response);
}

SandboxWatch::Answer SandboxWatch::decide(const Asker& asker, int call,
                                          const unsigned long long* arguments) {
  for (const PathCall& path_call : path_calls) {
    if (path_call.number == call) {
      const bool writes = path_call.flags >= 0 && (arguments[path_call.flags] &
                                                   (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0;
      const int folder = path_call.argument > 0 ? static_cast<int>(arguments[0]) : AT_FDCWD;
      return look_up([&] {
        const std::string path = asked_path(asker, folder, arguments[path_call.argument]);
        return decide_path(asker, path_call.name, path, writes);
      });
    }
  }
  if (std::find(std::begin(stat_calls), std::end(stat_calls), call) != std::end(stat_calls)) {
    return look_up([] { return Answer{true, 0}; });
  }
  if (call == SYS_sched_setaffinity && is_own_thread(arguments[0])) {
    return {true, 0};
  }
  if (!fails_quietly(call, arguments)) {
    const std::string offense = offense_of(call, arguments);
    record(offense.empty() ? name_of_call(call) : offense);
  }
  return {false, EPERM};
}

SandboxWatch::Answer SandboxWatch::look_up(const std::function<Answer()>& decide) {
  if (lookups_ >= most_lookups) {
    record("more than " + std::to_string(most_lookups) + " questions about paths");
    return {false, EACCES};
  }
  const Answer decision = decide();
  lookups_ += decision.go_on ? 1 : 0;
  return decision;
}

// Its working folder is the root, and it cannot take another.
std::string SandboxWatch::asked_path(const Asker& asker, int folder,
                                     unsigned long long address) const {
  std::string path = read_path(address);
  if (path.empty() || path.front() == '/') {
    return path;
  }
  return (folder == AT_FDCWD ? std::string() : open_folder(asker, folder)) + "/" + path;
}

SandboxWatch::Answer SandboxWatch::decide_path(const Asker& asker, const std::string& call,
                                               const std::string& path, bool writes) {
  const std::string resolved = resolve_for(asker, path);
  std::error_code ignored;
  const bool readable =
      is_within(resolved, readable_) || !std::filesystem::exists(resolved, ignored);
  if (path.empty() || (readable && !writes) || is_within(resolved, writable_)) {
    return {true, 0};
  }
  const bool quiet = resolved == "/tmp" || (!writes && asks_about_itself(resolved, asker)) ||
                     begins_quietly(resolved) || (!goes_up(path) && begins_quietly(path));
  if (!quiet) {
    record(call + (writes ? " for writing " : " ") + path);
  }
  return {false, EACCES};
}

bool SandboxWatch::is_own_thread(unsigned long long thread) const {
  std::error_code ignored;
  return std::filesystem::exists(
      "/proc/" + std::to_string(runner_) + "/task/" + std::to_string(static_cast<int>(thread)),
      ignored);
}

std::string SandboxWatch::read_path(unsigned long long address) const {
  std::array<char, 4096> text{};
  // Page by page: a path may end just before an unmapped page.
  std::size_t got = 0;
  while (got < text.size()) {
    const std::size_t page = 4096 - (address + got) % 4096;
    const std::size_t want = std::min(page, text.size() - got);
    const iovec local{text.data() + got, want};
    const iovec remote{reinterpret_cast<void*>(address + got), want};
    if (process_vm_readv(runner_, &local, 1, &remote, 1, 0) != static_cast<ssize_t>(want)) {
      break;
    }
    if (std::memchr(text.data() + got, 0, want) != nullptr) {
      return text.data();
    }
    got += want;
  }
  return {};
}

void SandboxWatch::record(const std::string& what) {
  if (violations_.size() < max_recorded &&
      std::find(violations_.begin(), violations_.end(), what) == violations_.end()) {
    violations_.push_back(what);
  }
}

}  // namespace kernelpro
