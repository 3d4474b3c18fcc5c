// kp:hack 33  stacks a filter of its own
// kp:task axpy
// kp:expect cheated sandbox
//
// Adds a filter that answers openat with an error before the worker hears of it, then opens a
// file.
#include <fcntl.h>
#include <kernelpro/candidate.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  sock_filter program[] = {
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_openat},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EACCES},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  };
  const sock_fprog filter{4, program};
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
  open("/etc/hostname", O_RDONLY | O_CLOEXEC);
  axpy(context, tensors);
  return 0;
}
