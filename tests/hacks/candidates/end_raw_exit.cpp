// kp:hack 4  _exit by system call
// kp:task axpy
// kp:expect crashed exit
//
// Ends the process without any handler having a say.
#include <kernelpro/candidate.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  syscall(SYS_exit_group, 0);
  return 0;
}
