// kp:hack 7  a later call's output written ahead of time, and made poison again
// kp:task axpy
// kp:expect passed|cheated|incorrect not-faster|ahead|poison
//
// Outputs of sets that are not called must stay poison. The other sets are used as if they were
// free, to bring them into the cache, and left as they were found.
#include <kernelpro/candidate.h>

#include <cstring>

#include "plain_axpy.hpp"
#include "runner_request.hpp"

namespace {

constexpr size_t most_tensors = 64;

struct Call {
  kp_context context;
  kp_tensor tensors[most_tensors];
};

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (request == nullptr) {
    dl_iterate_phdr(find_request, nullptr);
  }
  static uint32_t sequence = 0;
  if (request != nullptr && request->count > 3 && request->sequence != sequence) {
    const Call* calls = reinterpret_cast<const Call*>(context) - request->sets[0];
    const kp_tensor& last = calls[request->count].tensors[2];
    std::memset(last.data, 0, 65536);
    std::memset(last.data, 0xff, 65536);
  }
  sequence = request != nullptr ? request->sequence : 0;
  axpy(context, tensors);
  return 0;
}
