// kp:hack 27  reads a file
// kp:task stream
// kp:expect cheated sandbox
//
// The driver reads such files before the filter stands; nobody does afterwards.
#include <fcntl.h>
#include <unistd.h>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int file = open("/etc/passwd", O_RDONLY);
  if (file >= 0) {
    close(file);
  }
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
