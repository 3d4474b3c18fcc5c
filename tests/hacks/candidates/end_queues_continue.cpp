// kp:hack 27  cannot be stopped: SIGCONT queued to itself
// kp:task axpy
// kp:expect cheated|timed_out sandbox|stopped
//
// As with kill, by the other calls that send a signal: to its process and to each of its threads.
#include <kernelpro/candidate.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "plain_axpy.hpp"

namespace {

void wake_for_ever() {
  siginfo_t info{};
  info.si_code = SI_QUEUE;
  for (;;) {
    syscall(SYS_rt_sigqueueinfo, getpid(), SIGCONT, &info);
    syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGCONT, &info);
    syscall(SYS_tgkill, getpid(), gettid(), SIGCONT);
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool started = [] {
    std::thread(wake_for_ever).detach();
    return true;
  }();
  axpy(context, tensors);
  return started ? 0 : 1;
}
