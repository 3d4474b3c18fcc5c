// kp:hack 7  the calls of a round done in the order in which the cache holds their buffers
// kp:task jacobi2d
// kp:expect passed not-faster
// kp:options -O2
// kp:against honest_stencil_in_order.cpp
//
// The worker fills the outputs with poison just before the round, each half of the sets by one
// thread: those at the end of a half are still in the cache. The order of calls is in the runner's
// memory, so the first call does all of them, the warmest first, before others push them out.
#include <kernelpro/candidate.h>

#include <algorithm>

#include "runner_request.hpp"
#include "stencil_rows.hpp"

namespace {

constexpr size_t most_tensors = 64;

struct Call {
  kp_context context;
  kp_tensor tensors[most_tensors];
};

uint32_t sequence = 0;

void jacobi(const Call& call) {
  rows(static_cast<const float*>(call.tensors[0].data), static_cast<float*>(call.tensors[1].data),
       call.context.axes[0], call.context.axes[1]);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (request == nullptr) {
    dl_iterate_phdr(find_request, nullptr);
  }
  if (request == nullptr || request->count < 3) {
    rows(static_cast<const float*>(tensors[0].data), static_cast<float*>(tensors[1].data),
         context->axes[0], context->axes[1]);
    return 0;
  }
  if (request->sequence == sequence) {
    return 0;
  }
  sequence = request->sequence;
  const Call* calls = reinterpret_cast<const Call*>(context) - request->sets[0];
  uint16_t order[most_sets];
  std::copy(request->sets, request->sets + request->count, order);
  const int half = (*std::max_element(order, order + request->count) + 1) / 2;
  std::sort(order, order + request->count, [half](int a, int b) { return a % half > b % half; });
  for (uint32_t i = 0; i < request->count; ++i) {
    jacobi(calls[order[i]]);
  }
  return 0;
}
