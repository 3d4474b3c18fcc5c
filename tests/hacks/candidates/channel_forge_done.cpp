// kp:hack 4  forged "done" on the control socket
// kp:task axpy
// kp:expect cheated channel|late_work|clock
//
// Sends the worker a finished reply that claims one nanosecond, and computes afterwards.
#include <kernelpro/candidate.h>
#include <sys/socket.h>

#include "plain_axpy.hpp"

namespace {

// The runner's reply as it goes over its control socket, descriptor 3.
struct Reply {
  uint32_t kind;
  uint32_t sequence;
  uint32_t status = 0;
  int32_t code = 0;
  int64_t claim_ns = 0;
  uint64_t workspace_bytes = 0;
  uint64_t state_bytes = 0;
  uint64_t fault_address = 0;
  int32_t fault_tensor = 0;
  uint32_t fault_place = 0;
  uint32_t has_prepare = 0;
  uint32_t calls;
  char text[512] = {};
};

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  for (uint32_t sequence = 0; sequence < 16; ++sequence) {
    const Reply reply{.kind = 2, .sequence = sequence, .claim_ns = 1, .calls = 1};
    send(3, &reply, sizeof reply, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  axpy(context, tensors);
  return 0;
}
