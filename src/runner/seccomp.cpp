#include "runner/seccomp.hpp"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runner/filter_program.hpp"

#ifndef SECCOMP_FILTER_FLAG_TSYNC_ESRCH
#define SECCOMP_FILTER_FLAG_TSYNC_ESRCH (1UL << 4)
#endif

namespace kernelpro::runner {

namespace {

// Calls that compute, wait, or touch only the process's own memory and descriptors. Files are
// landlock's business; what names a path is reported.
constexpr long allowed[] = {
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_close,
    SYS_fstat,
    SYS_lseek,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_brk,
    SYS_mincore,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_rt_sigpending,
    SYS_rt_sigtimedwait,
    SYS_rt_sigsuspend,
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
    SYS_eventfd2,
    SYS_pipe2,
#if defined(__x86_64__)
    SYS_poll,
    SYS_select,
    SYS_time,
    SYS_arch_prctl,
    SYS_pause,
#endif
};

// What the CUDA driver asks for once its context stands: it drives its device files, which landlock
// lets through, and wakes its own threads.
constexpr long allowed_with_cuda[] = {
    SYS_dup,           SYS_dup3,  SYS_flock,         SYS_sched_setaffinity,
    SYS_get_mempolicy, SYS_mbind, SYS_set_mempolicy, SYS_newfstatat,
    SYS_statx,
#if defined(__x86_64__)
    SYS_stat,          SYS_lstat,
#endif
};

// What pthread_create asks for (the last is musl's). Beyond it there is nothing that a thread
// needs, and CLONE_VFORK would leave the one that made it where no signal but SIGKILL reaches it.
constexpr std::uint32_t thread_flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
                                       CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
                                       CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | CLONE_DETACHED;

// Signals that stop a process or wake a stopped one: that is the worker's business alone.
constexpr std::uint32_t stop_and_go[] = {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT};

// Advice that concerns the caller's own page tables and private memory. What is missing changes the
// pages themselves, which others map too (REMOVE, PAGEOUT, COLD, COLLAPSE, MERGEABLE), fills them
// by force (POPULATE) or is for tests of the kernel. Numbers where older headers have no name.
constexpr std::uint32_t harmless_advice[] = {MADV_NORMAL,
                                             MADV_RANDOM,
                                             MADV_SEQUENTIAL,
                                             MADV_WILLNEED,
                                             MADV_DONTNEED,
                                             MADV_FREE,
                                             MADV_DONTFORK,
                                             MADV_DOFORK,
                                             MADV_HUGEPAGE,
                                             MADV_NOHUGEPAGE,
                                             MADV_DONTDUMP,
                                             MADV_DODUMP,
                                             MADV_WIPEONFORK,
                                             MADV_KEEPONFORK,
                                             24 /* DONTNEED_LOCKED */,
                                             102 /* GUARD_INSTALL, for the stacks of threads */,
                                             103 /* GUARD_REMOVE */};

constexpr std::uint32_t populate_read = 22;
constexpr std::uint32_t populate_write = 23;

// F_SETFL is looked at by its flags. What is missing sends signals (SETOWN, SETSIG, NOTIFY), or
// reaches whoever else has the file (leases, seals, the size of a pipe).
constexpr std::uint32_t harmless_fcntl[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD,
                                            F_SETFD, F_GETFL,         1034 /* F_GET_SEALS */};

// Locks, with which the driver guards files of its own.
constexpr std::uint32_t driver_fcntl[] = {F_GETLK, F_SETLK, F_SETLKW, 36, 37, 38 /* F_OFD_… */};

// By ioctl, which the driver lives by, a descriptor can be made to send signals as well.
constexpr std::uint32_t signalling_ioctls[] = {FIOASYNC, FIOSETOWN, SIOCSPGRP};

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

// Signals to itself (abort, raise) but those of the worker; to anyone else they are reported.
void allow_own_signals(Program& program) {
  struct SignalCall {
    long number;
    std::size_t signal;  // which argument it is
  };
  constexpr SignalCall calls[] = {
      {SYS_kill, 1}, {SYS_tgkill, 2}, {SYS_rt_sigqueueinfo, 1}, {SYS_rt_tgsigqueueinfo, 2}};
  const auto self = static_cast<std::uint32_t>(getpid());
  for (const SignalCall& call : calls) {
    for_call(program, call.number, [&] {
      load(program, argument_low(0));
      emit(program, BPF_JMP | BPF_JEQ | BPF_K, self, 0, std::size(stop_and_go) + 2);
      load(program, argument_low(call.signal));
      allow_other_values(program, stop_and_go);
    });
  }
}

// Advice, commands and ioctls are 32 bits wide to the kernel as well; so are a file's flags.
void allow_harmless_arguments(Program& program, bool cuda) {
  for_call(program, SYS_madvise, [&] {
    load(program, argument_low(2));
    allow_values(program, harmless_advice);
    // To have pages given before they are touched: a kernel before 5.14 does not know that either.
    emit(program, BPF_JMP | BPF_JGE | BPF_K, populate_read, 0, 2);
    emit(program, BPF_JMP | BPF_JGT | BPF_K, populate_write, 1, 0);
    answer(program, SECCOMP_RET_ERRNO | EINVAL);
  });
  for_call(program, SYS_fcntl, [&] {
    load(program, argument_low(1));
    allow_values(program, harmless_fcntl);
    if (cuda) {
      allow_values(program, driver_fcntl);
    }
    emit(program, BPF_JMP | BPF_JEQ | BPF_K, F_SETFL, 0, 3);
    load(program, argument_low(2));
    emit(program, BPF_JMP | BPF_JSET | BPF_K, O_ASYNC, 1, 0);
    answer(program, SECCOMP_RET_ALLOW);
  });
  if (cuda) {
    for_call(program, SYS_ioctl, [&] {
      load(program, argument_low(1));
      allow_other_values(program, signalling_ioctls);
    });
  }
}

// The limit of the heap counts neither memory that no file is behind and that others could share,
// nor what grows downwards as a stack does. Nobody is there to share it with, and threads get their
// stacks otherwise. A driver may ask for either.
void refuse_uncounted_memory(Program& program) {
  constexpr std::uint32_t kinds[] = {MAP_SHARED | MAP_ANONYMOUS, MAP_GROWSDOWN};
  for (const std::uint32_t kind : kinds) {
    for_call(program, SYS_mmap, [&] {
      load(program, argument_low(3));
      emit(program, BPF_ALU | BPF_AND | BPF_K, kind);
      emit(program, BPF_JMP | BPF_JEQ | BPF_K, kind, 0, 1);
      answer(program, SECCOMP_RET_ERRNO | ENOMEM);
    });
  }
}

void allow_threads(Program& program) {
  constexpr std::uint32_t thread = CLONE_THREAD;
  allow_if(program, SYS_clone, 0, ~(thread_flags & ~thread), thread);
}

// prlimit64 that only asks (no new limit).
void allow_limit_query(Program& program) {
  for_call(program, SYS_prlimit64, [&] {
    load(program, argument_low(2));
    emit(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
    load(program, argument_high(2));
    emit(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
    answer(program, SECCOMP_RET_ALLOW);
  });
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

Program make_unwatched_program() {
  Program program;
  check_architecture(program);
  emit(program, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1);
  answer(program, SECCOMP_RET_ERRNO | ENOSYS);
  allow_threads(program);
  allow_own_signals(program);
  const auto refuse = [&program](long call) {
    emit(program, BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1);
    answer(program, SECCOMP_RET_ERRNO | EPERM);
  };
  for (const long call : refused_unwatched) {
    refuse(call);
  }
  // What was not let through above.
  refuse(SYS_clone);
  refuse(SYS_kill);
  refuse(SYS_tgkill);
  refuse(SYS_rt_sigqueueinfo);
  refuse(SYS_rt_tgsigqueueinfo);
  answer(program, SECCOMP_RET_ALLOW);
  return program;
}

Program make_program(bool cuda) {
  Program program;
  check_architecture(program);
  if (!cuda) {
    refuse_uncounted_memory(program);
  }
  allow_calls(program, cuda);
  // glibc falls back to clone, whose flags a filter can read.
  emit(program, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1);
  answer(program, SECCOMP_RET_ERRNO | ENOSYS);
  allow_threads(program);
  allow_own_signals(program);
  allow_harmless_arguments(program, cuda);
  // Its own placement; a thread's by number is the worker's to look at.
  allow_if(program, SYS_sched_setaffinity, 0, ~0U, 0);
  // The class that it has anyhow, as threads with attributes of their own ask for it.
  allow_if(program, SYS_sched_setscheduler, 1, ~0U, SCHED_OTHER);
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
