// kp:hack 7  a thread works on the calls that come later in the round
// kp:task gemm
// kp:expect passed|cheated not-faster|ahead
//
// Reads the order of the round in the runner's memory. While the first calls are answered, a second
// thread computes the last ones into their own outputs; those calls then return at once. A call by
// itself takes as long as before: only the mean of a round is shorter. Sets that are never called
// stay untouched.
#include <kernelpro/candidate.h>

#include <atomic>
#include <thread>

#include "runner_request.hpp"

namespace {

constexpr size_t most_tensors = 64;

struct Call {
  kp_context context;
  kp_tensor tensors[most_tensors];
};

uint32_t sequence = 0;
uint32_t place = 0;
std::atomic<int> owner[most_sets];  // 0 nobody, 1 taken, 2 done
std::thread helper;

void gemm(const kp_context* context, const kp_tensor* tensors) {
  const int64_t m = context->axes[0];
  const int64_t n = context->axes[1];
  const int64_t k = context->axes[2];
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* a = static_cast<const float*>(tensors[0].data);
  const auto* b = static_cast<const float*>(tensors[1].data);
  auto* c = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0.0F;
      for (int64_t p = 0; p < k; ++p) {
        sum += a[i * k + p] * b[p * n + j];
      }
      c[i * n + j] = alpha * sum;
    }
  }
}

void work_from_the_end(const Call* calls) {
  for (uint32_t i = request->count; i-- > 1;) {
    int nobody = 0;
    if (!owner[i].compare_exchange_strong(nobody, 1)) {
      return;
    }
    const Call& call = calls[request->sets[i]];
    gemm(&call.context, call.tensors);
    owner[i] = 2;
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (request == nullptr) {
    dl_iterate_phdr(find_request, nullptr);
  }
  if (request == nullptr) {
    gemm(context, tensors);
    return 0;
  }
  if (request->sequence != sequence) {
    sequence = request->sequence;
    place = 0;
    for (auto& one : owner) {
      one = 0;
    }
    const Call* calls = reinterpret_cast<const Call*>(context) - request->sets[0];
    if (request->count > 1) {
      helper = std::thread(work_from_the_end, calls);
    }
  }
  int nobody = 0;
  if (owner[place].compare_exchange_strong(nobody, 1)) {
    gemm(context, tensors);
    owner[place] = 2;
  }
  while (owner[place] != 2) {
  }
  if (++place == request->count && helper.joinable()) {
    helper.join();
  }
  return 0;
}
