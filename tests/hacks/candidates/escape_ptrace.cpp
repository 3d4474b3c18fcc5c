// kp:hack 27  traces the worker
// kp:task axpy
// kp:expect cheated sandbox
//
// Seizes the worker as a debugger would.
#include <kernelpro/candidate.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  ptrace(PTRACE_SEIZE, getppid(), nullptr, nullptr);
  axpy(context, tensors);
  return 0;
}
