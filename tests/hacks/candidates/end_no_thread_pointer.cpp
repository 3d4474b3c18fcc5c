// kp:hack bad-input  returns without a thread pointer
// kp:task axpy
// kp:expect crashed|cheated|timed_out signal|channel|exit
//
// What the C library keeps for each thread is gone, for the runner's handler of signals too.
#include <kernelpro/candidate.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
#if defined(__x86_64__)
  constexpr int set_fs = 0x1002;
  syscall(SYS_arch_prctl, set_fs, 0);
#else
  asm volatile("msr tpidr_el0, xzr");
#endif
  return 0;
}
