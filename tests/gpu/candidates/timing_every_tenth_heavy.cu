// kp:hack 32  every tenth call works for the nine before it
// kp:task stream
// kp:expect incorrect poison
//
// Those of the last calls of a round are never done.
#include <vector>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static std::vector<Call> pending;
  pending.push_back(call_of(context, tensors));
  int failed = 0;
  if (pending.size() == 10) {
    for (const Call& call : pending) {
      failed |= launch(call, call.stream);
    }
    pending.clear();
  }
  return failed;
}
