// kp:hack 4  an empty message before the answer
// kp:task axpy
// kp:expect cheated channel
//
// To who reads it, it looks like the end of the stream.
#include <kernelpro/candidate.h>
#include <sys/socket.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  send(3, "", 0, MSG_NOSIGNAL | MSG_DONTWAIT);
  return 0;
}
