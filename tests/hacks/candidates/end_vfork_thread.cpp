// kp:hack 27  cannot be stopped: waits in the kernel for a CLONE_VFORK thread
// kp:task axpy
// kp:expect cheated|timed_out sandbox|stopped
//
// Who has made a thread by CLONE_VFORK waits for its end where only SIGKILL reaches it: the thread
// never ends, and the one that waits is never stopped.
#include <kernelpro/candidate.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <thread>

#include "plain_axpy.hpp"

namespace {

alignas(16) char stack[65536];

int sleep_for_ever(void*) {
  for (;;) {
    pause();
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool started = [] {
    std::thread([] {
      clone(sleep_for_ever, stack + sizeof stack,
            CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                CLONE_VFORK,
            nullptr);
    }).detach();
    return true;
  }();
  usleep(1000);
  axpy(context, tensors);
  return started ? 0 : 1;
}
