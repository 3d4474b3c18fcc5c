// kp:hack 4  forged fault report
// kp:task axpy
// kp:expect cheated|crashed
//
// Says that it died of a segmentation fault at a made-up address, and goes on.
#include <kernelpro/candidate.h>
#include <sys/socket.h>

#include <csignal>

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
  reply.kind = 3;
  reply.code = SIGSEGV;
  reply.fault_address = ~uint64_t{0};
  send(3, &reply, sizeof reply, MSG_NOSIGNAL | MSG_DONTWAIT);
  axpy(context, tensors);
  return 0;
}
