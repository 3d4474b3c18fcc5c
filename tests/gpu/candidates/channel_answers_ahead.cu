// kp:hack 4  "ready" and "done" for the next request, sent before it is made
// kp:task stream
// kp:expect cheated channel
//
// Numbers of requests follow each other. With its answers in the socket already, the next round
// would be over before it is begun.
#include <sys/socket.h>

#include "program.cuh"
#include "round.cuh"
#include "stream.cuh"

namespace {

struct Reply {
  uint32_t kind;  // 1: ready, 2: done
  uint32_t sequence;
  uint32_t status;
  int32_t code;
  int64_t claim_ns;
  uint64_t numbers[3];
  uint32_t more[3];
  uint32_t calls;
  char text[512];
  char trace[16 + 16 * 16];
};

void answer(uint32_t kind, const Asked& asked) {
  Reply reply = {};
  reply.kind = kind;
  reply.sequence = asked.sequence + 1;
  reply.claim_ns = 1000;
  reply.calls = asked.count;
  send(3, &reply, sizeof reply, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static KnownRound round;
  const Call call = call_of(context, tensors);
  round.note(context);
  const int failed = launch(call, call.stream);
  if (round.known() && round.asked->count > 8 && round.at + 1 == round.asked->count) {
    answer(1, *round.asked);
    answer(2, *round.asked);
  }
  return failed;
}
