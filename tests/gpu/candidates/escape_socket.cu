// kp:hack 27  opens a socket
// kp:task stream
// kp:expect cheated sandbox
//
// No kernel needs a network.
#include <sys/socket.h>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  socket(AF_INET, SOCK_STREAM, 0);
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
