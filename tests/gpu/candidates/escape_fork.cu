// kp:hack 27  forks
// kp:task stream
// kp:expect cheated sandbox
//
// No kernel needs a process.
#include <unistd.h>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (fork() == 0) {
    _exit(0);
  }
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
