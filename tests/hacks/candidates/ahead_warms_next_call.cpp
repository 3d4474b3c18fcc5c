// kp:hack 7  a thread reads the inputs of the next call into the cache
// kp:task axpy
// kp:expect passed not-faster
//
// Reads the order of the round in the runner's memory. While one call is computed, a second thread
// reads the inputs of the next one, which its call then finds in the cache: rounds are meant to be
// cold.
#include <kernelpro/candidate.h>

#include <atomic>
#include <thread>

#include "plain_axpy.hpp"
#include "runner_request.hpp"

namespace {

constexpr size_t most_tensors = 64;

struct Call {
  kp_context context;
  kp_tensor tensors[most_tensors];
};

uint32_t sequence = 0;
std::atomic<uint32_t> place{0};
std::thread helper;

// One word of each line of all later calls, never more than one call ahead.
void read_ahead(const Call* calls) {
  for (uint32_t i = 1; i < request->count; ++i) {
    while (place + 1 < i) {
    }
    const Call& call = calls[request->sets[i]];
    for (int t = 0; t < 2; ++t) {
      const auto* data = static_cast<const volatile float*>(call.tensors[t].data);
      for (int64_t j = 0; j < call.context.axes[0]; j += 16) {
        static_cast<void>(data[j]);
      }
    }
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (request == nullptr) {
    dl_iterate_phdr(find_request, nullptr);
  }
  if (request != nullptr && request->sequence != sequence) {
    sequence = request->sequence;
    place = 0;
    const Call* calls = reinterpret_cast<const Call*>(context) - request->sets[0];
    if (request->count > 1) {
      helper = std::thread(read_ahead, calls);
    }
  }
  axpy(context, tensors);
  if (request != nullptr && ++place == request->count && helper.joinable()) {
    helper.join();
  }
  return 0;
}
