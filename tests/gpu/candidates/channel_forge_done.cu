// kp:hack 4  forged "done" on the control socket
// kp:task stream
// kp:expect cheated channel|late_work|clock
//
// Sends the worker replies that claim one nanosecond, and computes afterwards.
#include <sys/socket.h>

#include "stream.cuh"

namespace {

// The runner's reply as it goes over its control socket, descriptor 3.
struct Reply {
  uint32_t kind;
  uint32_t sequence;
  uint32_t status;
  int32_t code;
  int64_t claim_ns;
  uint64_t workspace_bytes;
  uint64_t state_bytes;
  uint64_t fault_address;
  int32_t fault_tensor;
  uint32_t fault_place;
  uint32_t has_prepare;
  uint32_t calls;
  char text[512];
};

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  Reply reply{};
  reply.kind = 2;
  reply.claim_ns = 1;
  reply.calls = 1;
  for (reply.sequence = 0; reply.sequence < 16; ++reply.sequence) {
    send(3, &reply, sizeof reply, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
