// kp:hack 27  makes memory that it could share
// kp:task stream
// kp:expect cheated sandbox
//
// Nobody is there to share it with.
#include <sys/syscall.h>
#include <unistd.h>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  syscall(SYS_memfd_create, "shared", 0);
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
