// kp:hack 27  starts a program
// kp:task stream
// kp:expect cheated sandbox
//
// No kernel needs one.
#include <unistd.h>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  char path[] = "/bin/true";
  char* arguments[] = {path, nullptr};
  execve(path, arguments, nullptr);
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
