// kp:hack 7  as ahead_rest_of_the_round, where a call is short beside others and not by itself
// kp:task spmv
// kp:expect passed|cheated not-faster|ahead
//
// Two calls at a time make one of 0.7 ms look like one of 0.35 ms, too short to be timed by itself.
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

void spmv(const kp_context* context, const kp_tensor* tensors) {
  const auto* row_ptr = static_cast<const int32_t*>(tensors[0].data);
  const auto* columns = static_cast<const int32_t*>(tensors[1].data);
  const auto* values = static_cast<const float*>(tensors[2].data);
  const auto* x = static_cast<const float*>(tensors[3].data);
  auto* y = static_cast<float*>(tensors[4].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    float sum = 0.0F;
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
      sum += values[p] * x[columns[p]];
    }
    y[i] = sum;
  }
}

void work_from_the_end(const Call* calls) {
  for (uint32_t i = request->count; i-- > 1;) {
    int nobody = 0;
    if (!owner[i].compare_exchange_strong(nobody, 1)) {
      return;
    }
    const Call& call = calls[request->sets[i]];
    spmv(&call.context, call.tensors);
    owner[i] = 2;
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (request == nullptr) {
    dl_iterate_phdr(find_request, nullptr);
  }
  if (request == nullptr) {
    spmv(context, tensors);
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
    spmv(context, tensors);
    owner[place] = 2;
  }
  while (owner[place] != 2) {
  }
  if (++place == request->count && helper.joinable()) {
    helper.join();
  }
  return 0;
}
