// kp:hack 27  the buffers of calls to come unmapped
// kp:task axpy
// kp:expect crashed|incorrect|launch_failed signal|guard|poison|input_write
// kp:rounds-above 3
//
// In rounds of many calls the first one unmaps the inputs of the next, so that the runner seems to
// have lost them.
#include <kernelpro/candidate.h>
#include <sys/mman.h>

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
  axpy(context, tensors);
  if (request != nullptr && request->count > 3) {
    const auto* call = reinterpret_cast<const Call*>(context);
    const Call& next = (call - request->sets[0])[request->sets[1]];
    const auto at = reinterpret_cast<uintptr_t>(next.tensors[0].data) / 4096 * 4096;
    munmap(reinterpret_cast<void*>(at), 1U << 20);
  }
  return 0;
}
