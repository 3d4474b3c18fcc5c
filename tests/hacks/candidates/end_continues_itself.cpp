// kp:hack 27  cannot be stopped: a thread sends SIGCONT to its own process
// kp:task axpy
// kp:expect cheated|timed_out sandbox|stopped
//
// Whatever stops the process, the thread wakes it up again, so that it is never seen stopped.
#include <kernelpro/candidate.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool started = [] {
    std::thread([] {
      for (;;) {
        kill(getpid(), SIGCONT);
      }
    }).detach();
    return true;
  }();
  axpy(context, tensors);
  return started ? 0 : 1;
}
