// kp:hack honest  asks the kernel about itself and its limits, as runtimes do when they start
// kp:task axpy
// kp:expect passed
// kp:twin escape_proc_parent_environ.cpp
//
// Whatever is refused, it does without.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <initializer_list>

#include "plain_axpy.hpp"

namespace {

void ask() {
  struct rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  struct sysinfo machine{};
  sysinfo(&machine);
  rlimit limit{};
  getrlimit(RLIMIT_STACK, &limit);
  syscall(SYS_membarrier, 0, 0, 0);
  prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);
  prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
  prctl(PR_SET_NAME, "worker", 0, 0, 0);
  getpriority(PRIO_PROCESS, 0);
  sched_getscheduler(0);
  for (const char* path :
       {"/proc/self/status", "/proc/self/stat", "/proc/self/statm", "/proc/self/limits",
        "/proc/self/cgroup", "/proc/self/auxv", "/proc/self/mountinfo", "/proc/self/task",
        "/proc/version", "/proc/loadavg", "/proc/uptime", "/dev/null", "/dev/zero",
        "/dev/urandom"}) {
    if (const int fd = open(path, O_RDONLY | O_CLOEXEC); fd >= 0) {
      char text[64];
      static_cast<void>(read(fd, text, sizeof text));
      close(fd);
    }
  }
}

// Memory that grows in place or moves, as that of large arrays.
bool grow() {
  constexpr size_t small = size_t{1} << 20;
  void* memory = mmap(nullptr, small, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return false;
  }
  static_cast<char*>(memory)[0] = 1;
  memory = mremap(memory, small, 8 * small, MREMAP_MAYMOVE);
  const bool kept = memory != MAP_FAILED && static_cast<char*>(memory)[0] == 1;
  madvise(memory, 8 * small, MADV_HUGEPAGE);
  munmap(memory, 8 * small);
  return kept;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool grown = (ask(), grow());
  axpy(context, tensors);
  return grown ? 0 : 1;
}
