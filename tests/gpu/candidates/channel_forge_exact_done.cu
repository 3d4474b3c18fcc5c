// kp:hack 4  forged "done" with the right sequence number
// kp:task stream
// kp:expect cheated channel|late_work|clock
//
// Finds the request among the runner's variables, answers it, and only then computes.
#include <sys/socket.h>

#include "program.cuh"
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

// A request "go" is the number 4, its sequence number, the count of calls, and zero.
void find_request(Reply& reply) {
  const Words words = program_words();
  const auto* halves = reinterpret_cast<const uint32_t*>(words.first);
  for (size_t i = 0; i + 4 <= 2 * words.count; ++i) {
    if (halves[i] == 4 && halves[i + 2] >= 1 && halves[i + 2] <= 1024 && halves[i + 3] == 0) {
      reply.sequence = halves[i + 1];
      reply.calls = halves[i + 2];
    }
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  cudaFree(nullptr);
  Reply reply{};
  reply.kind = 2;
  reply.claim_ns = 1;
  find_request(reply);
  send(3, &reply, sizeof reply, MSG_NOSIGNAL | MSG_DONTWAIT);
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
