// kp:hack 2  the end of each round is written while the judge takes its answer
// kp:task axpy
// kp:expect passed|cheated|incorrect not-faster|late_work|poison
//
// A thread writes the last 64 KiB of the last call, for which handing over may just suffice.
#include <atomic>
#include <thread>

#include "plain_axpy.hpp"
#include "runner_request.hpp"

namespace {

constexpr int64_t late_elements = 16 << 10;

struct Rest {
  float alpha;
  const float* x;
  const float* y;
  float* out;
  int64_t from;
  int64_t to;
};

Rest rest;
std::atomic<int> waiting = 0;
uint32_t sequence = 0;
uint32_t place = 0;

void write_rest() {
  for (;;) {
    while (waiting.load(std::memory_order_acquire) == 0) {
    }
    for (int64_t i = rest.from; i < rest.to; ++i) {
      rest.out[i] = rest.alpha * rest.x[i] + rest.y[i];
    }
    waiting.store(0, std::memory_order_release);
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (request == nullptr) {
    dl_iterate_phdr(find_request, nullptr);
    std::thread(write_rest).detach();
  }
  if (request != nullptr && request->sequence != sequence) {
    sequence = request->sequence;
    place = 0;
  }
  const bool last = request != nullptr && ++place == request->count && request->count > 1;
  const int64_t n = context->axes[0];
  const int64_t split = last && n > 4 * late_elements ? n - late_elements : n;
  rest = {static_cast<float>(context->scalars[0]),
          static_cast<const float*>(tensors[0].data),
          static_cast<const float*>(tensors[1].data),
          static_cast<float*>(tensors[2].data),
          split,
          n};
  for (int64_t i = 0; i < split; ++i) {
    rest.out[i] = rest.alpha * rest.x[i] + rest.y[i];
  }
  if (split < n) {
    waiting.store(1, std::memory_order_release);
  }
  return 0;
}
