#include "runner/seccomp.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

#ifndef SECCOMP_FILTER_FLAG_TSYNC_ESRCH
#define SECCOMP_FILTER_FLAG_TSYNC_ESRCH (1UL << 4)
#endif

namespace kernelpro::runner {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t native_arch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t native_arch = AUDIT_ARCH_AARCH64;
#else
#error "the runner's filter knows x86-64 and arm64"
#endif

using Program = std::vector<sock_filter>;

void emit(Program& program, std::uint16_t code, std::uint32_t k, std::uint8_t if_true = 0,
          std::uint8_t if_false = 0) {
  program.push_back(sock_filter{code, if_true, if_false, k});
}

void load(Program& program, std::size_t offset) {
  emit(program, BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

void answer(Program& program, std::uint32_t action) {
  emit(program, BPF_RET | BPF_K, action);
}

// The low word of argument `index` (both architectures are little-endian).
constexpr std::size_t argument_low(std::size_t index) {
  return offsetof(seccomp_data, args) + index * sizeof(std::uint64_t);
}

constexpr std::size_t argument_high(std::size_t index) {
  return argument_low(index) + sizeof(std::uint32_t);
}

// Calls that compute, wait, or touch only the process's own memory and descriptors. Files are
// landlock's business; opening one is reported below.
constexpr long allowed[] = {
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_close,
    SYS_fstat,
    SYS_newfstatat,
    SYS_statx,
    SYS_lseek,
    SYS_fcntl,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    SYS_mincore,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_rt_sigpending,
    SYS_sigaltstack,
    SYS_futex,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_membarrier,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_gettimeofday,
    SYS_nanosleep,
    SYS_clock_nanosleep,
    SYS_sched_yield,
    SYS_sched_getaffinity,

    SYS_getcpu,
    SYS_getpid,
    SYS_gettid,
    SYS_getppid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getrandom,
    SYS_uname,
    SYS_sysinfo,
    SYS_getrusage,
    SYS_times,
    SYS_exit,
    SYS_exit_group,
    SYS_set_tid_address,
    SYS_restart_syscall,
    SYS_sendmsg,
    SYS_recvmsg,
    SYS_sendto,
    SYS_recvfrom,
    SYS_ppoll,
    SYS_pselect6,
    SYS_getdents64,
    SYS_sched_getparam,
    SYS_sched_getscheduler,
    SYS_sched_get_priority_max,
    SYS_sched_get_priority_min,
    SYS_mlock,
    SYS_munlock,
#if defined(__x86_64__)
    SYS_poll,
    SYS_select,
    SYS_stat,
    SYS_lstat,
    SYS_time,
    SYS_arch_prctl,
    SYS_pause,
#endif
};

// What the CUDA driver asks for once its context stands: it drives its device files, which landlock
// lets through, and wakes its own threads.
constexpr long allowed_with_cuda[] = {
    SYS_ioctl, SYS_eventfd2,          SYS_pipe2,         SYS_dup,   SYS_dup3,
    SYS_flock, SYS_sched_setaffinity, SYS_get_mempolicy, SYS_mbind, SYS_set_mempolicy,
};

void allow_call(Program& program, long call) {
  emit(program, BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1);
  answer(program, SECCOMP_RET_ALLOW);
}

void allow_calls(Program& program, bool cuda) {
  for (const long call : allowed) {
    allow_call(program, call);
  }
  if (cuda) {
    for (const long call : allowed_with_cuda) {
      allow_call(program, call);
    }
  }
}

// `call` is allowed when its argument `index`, read as 32 bits and masked, equals `value`.
void allow_if(Program& program, long call, std::size_t index, std::uint32_t mask,
              std::uint32_t value) {
  emit(program, BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 5);
  load(program, argument_low(index));
  emit(program, BPF_ALU | BPF_AND | BPF_K, mask);
  emit(program, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
  answer(program, SECCOMP_RET_ALLOW);
  load(program, offsetof(seccomp_data, nr));
}

// prlimit64 that only asks (no new limit).
void allow_limit_query(Program& program) {
  emit(program, BPF_JMP | BPF_JEQ | BPF_K, SYS_prlimit64, 0, 6);
  load(program, argument_low(2));
  emit(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
  load(program, argument_high(2));
  emit(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
  answer(program, SECCOMP_RET_ALLOW);
  load(program, offsetof(seccomp_data, nr));
}

// New processes, connections, and ways into other processes or the kernel.
constexpr long refused_unwatched[] = {
    SYS_socket,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_pidfd_open,
    SYS_pidfd_getfd,
    SYS_pidfd_send_signal,
    SYS_io_uring_setup,
    SYS_userfaultfd,
    SYS_perf_event_open,
    SYS_bpf,
    SYS_mount,
    SYS_unshare,
    SYS_setns,
    SYS_keyctl,
    SYS_add_key,
    SYS_setsid,
    SYS_setpgid,
    SYS_tkill,
#if defined(__x86_64__)
    SYS_fork,
    SYS_vfork,
#endif
};

void check_architecture(Program& program) {
  load(program, offsetof(seccomp_data, arch));
  emit(program, BPF_JMP | BPF_JEQ | BPF_K, native_arch, 1, 0);
  answer(program, SECCOMP_RET_KILL_PROCESS);
  load(program, offsetof(seccomp_data, nr));
#if defined(__x86_64__)
  // The x32 numbers of the same architecture.
  emit(program, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
  answer(program, SECCOMP_RET_KILL_PROCESS);
#endif
}

Program make_unwatched_program() {
  const auto self = static_cast<std::uint32_t>(getpid());
  Program program;
  check_architecture(program);
  emit(program, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1);
  answer(program, SECCOMP_RET_ERRNO | ENOSYS);
  allow_if(program, SYS_clone, 0, CLONE_THREAD, CLONE_THREAD);
  for (const long call : {static_cast<long>(SYS_kill), static_cast<long>(SYS_tgkill)}) {
    allow_if(program, call, 0, ~0U, self);
  }
  const auto refuse = [&program](long call) {
    emit(program, BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1);
    answer(program, SECCOMP_RET_ERRNO | EPERM);
  };
  for (const long call : refused_unwatched) {
    refuse(call);
  }
  // What allow_if did not let through.
  refuse(SYS_clone);
  refuse(SYS_kill);
  refuse(SYS_tgkill);
  answer(program, SECCOMP_RET_ALLOW);
  return program;
}

Program make_program(bool cuda) {
  Program program;
  const auto self = static_cast<std::uint32_t>(getpid());
  check_architecture(program);
  allow_calls(program, cuda);
  // glibc falls back to clone, whose flags a filter can read.
  emit(program, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1);
  answer(program, SECCOMP_RET_ERRNO | ENOSYS);
  allow_if(program, SYS_clone, 0, CLONE_THREAD, CLONE_THREAD);
  // Signals to itself (abort, raise); to anyone else they are reported.
  for (const long call :
       {static_cast<long>(SYS_kill), static_cast<long>(SYS_tgkill),
        static_cast<long>(SYS_rt_sigqueueinfo), static_cast<long>(SYS_rt_tgsigqueueinfo)}) {
    allow_if(program, call, 0, ~0U, self);
  }
  // Its own placement; a thread's by number is the worker's to look at.
  allow_if(program, SYS_sched_setaffinity, 0, ~0U, 0);
  // Thread names, and what the memory allocator asks for; nothing that changes the process's
  // rights.
  for (const int option : {PR_SET_NAME, PR_GET_NAME, PR_SET_VMA}) {
    allow_if(program, SYS_prctl, 0, ~0U, static_cast<std::uint32_t>(option));
  }
  allow_limit_query(program);
  answer(program, SECCOMP_RET_USER_NOTIF);
  return program;
}

}  // namespace

int install_filter(bool cuda) {
  Program program = make_program(cuda);
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return static_cast<int>(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                  SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_TSYNC |
                                      SECCOMP_FILTER_FLAG_TSYNC_ESRCH,
                                  &filter));
}

bool install_unwatched_filter() {
  Program program = make_unwatched_program();
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0;
}

}  // namespace kernelpro::runner
