// kp:hack 33  the main thread ends and another goes on in its place
// kp:task axpy
// kp:expect passed|crashed|timed_out|cheated not-faster|exit|stopped|channel|clock
//
// The kernel's count of waiting is read of the main thread, which is then dead. The other thread
// carries the runner on from where it was called.
#include <kernelpro/candidate.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "plain_axpy.hpp"

namespace {

bool moved = false;
std::atomic<int> saved{0};
ucontext_t runner;
ucontext_t ended;
alignas(16) char stack[65536];

void end_leader() {
  saved = 1;
  syscall(SYS_exit, 0);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (!moved) {
    moved = true;
    std::thread([] {
      while (saved == 0) {
      }
      setcontext(&runner);
    }).detach();
    getcontext(&ended);
    ended.uc_stack.ss_sp = stack;
    ended.uc_stack.ss_size = sizeof stack;
    ended.uc_link = nullptr;
    makecontext(&ended, end_leader, 0);
    swapcontext(&runner, &ended);
  }
  axpy(context, tensors);
  return 0;
}
