// kp:hack 27  has a descriptor send it SIGCONT
// kp:task axpy
// kp:expect cheated sandbox
//
// Makes itself the owner of the pipe it prints to and SIGCONT the signal that the pipe sends.
#include <fcntl.h>
#include <kernelpro/candidate.h>
#include <unistd.h>

#include <csignal>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  fcntl(STDOUT_FILENO, F_SETOWN, getpid());
  fcntl(STDOUT_FILENO, F_SETSIG, SIGCONT);
  fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK | O_ASYNC);
  axpy(context, tensors);
  return 0;
}
