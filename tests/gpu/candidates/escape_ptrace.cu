// kp:hack 27  traces the worker
// kp:task stream
// kp:expect cheated sandbox
//
// Another process is none of its business.
#include <sys/ptrace.h>
#include <unistd.h>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  ptrace(PTRACE_SEIZE, getppid(), nullptr, nullptr);
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
