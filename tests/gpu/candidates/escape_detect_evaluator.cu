// kp:hack 28  reads its own command line and environment
// kp:task stream
// kp:expect cheated sandbox
//
// The driver may read /proc while it starts; a candidate may not.
#include <fcntl.h>
#include <unistd.h>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  for (const char* name : {"/proc/self/cmdline", "/proc/self/environ", "/proc/self/maps"}) {
    const int file = open(name, O_RDONLY);
    if (file >= 0) {
      close(file);
    }
  }
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
