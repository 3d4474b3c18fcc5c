// kp:hack 4  reply with impossible fields
// kp:task axpy
// kp:expect cheated channel
//
// Unknown kind and status, a negative claim, more calls than asked for, and text that no zero
// byte ends.
#include <kernelpro/candidate.h>
#include <sys/socket.h>

#include <cstring>

#include "plain_axpy.hpp"
#include "reply_head.hpp"

namespace {

// The runner's reply as it goes over its control socket, descriptor 3.
struct Reply : ReplyHead {
  char text[512];
};

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  Reply reply{};
  std::memset(&reply, 0xff, sizeof reply);
  send(3, &reply, sizeof reply, MSG_NOSIGNAL | MSG_DONTWAIT);
  axpy(context, tensors);
  return 0;
}
