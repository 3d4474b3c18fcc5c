// kp:hack 30  barriers on all processors at once, from a thread that outlives the round
// kp:task axpy
// kp:expect passed|cheated clock|not-faster
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool started = [] {
    std::thread([] {
      for (;;) {
        syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
      }
    }).detach();
    return true;
  }();
  static_cast<void>(started);
  axpy(context, tensors);
  return 0;
}
