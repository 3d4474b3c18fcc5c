// kp:hack 27  writes a file
// kp:task stream
// kp:expect cheated sandbox
//
// A kernel has no file to write.
#include <fcntl.h>
#include <unistd.h>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int file = open("/tmp/kernelpro-escape-gpu", O_WRONLY | O_CREAT, 0644);
  if (file >= 0) {
    close(file);
  }
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
