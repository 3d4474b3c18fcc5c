// kp:hack 27  handles page faults itself
// kp:task axpy
// kp:expect cheated sandbox
//
// Could hold the runner or the kernel at a page of its choice.
#include <fcntl.h>
#include <kernelpro/candidate.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
  axpy(context, tensors);
  return 0;
}
