// kp:hack 27  every system call there is, without arguments
// kp:task axpy
// kp:expect cheated sandbox
//
// A list of allowed calls leaves out what nobody thought of; and each that is on it must be
// harmless with arguments that no runtime would give it.
#include <kernelpro/candidate.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plain_axpy.hpp"

namespace {

// Those that end the process or wait for ever by themselves, and those without which it cannot go
// on.
bool leaves(long call) {
  constexpr long calls[] = {SYS_exit,     SYS_exit_group, SYS_rt_sigreturn,  SYS_close,
                            SYS_munmap,   SYS_brk,        SYS_read,          SYS_recvmsg,
                            SYS_recvfrom, SYS_pselect6,   SYS_rt_sigsuspend, SYS_ppoll,
                            SYS_clone};
  for (const long one : calls) {
    if (call == one) {
      return true;
    }
  }
#if defined(__x86_64__)
  return call == SYS_pause || call == SYS_select;
#else
  return false;
#endif
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  constexpr long last = 480;
  for (long call = 0; call <= last; ++call) {
    if (!leaves(call)) {
      syscall(call, 0, 0, 0, 0, 0, 0);
    }
  }
  axpy(context, tensors);
  return 0;
}
