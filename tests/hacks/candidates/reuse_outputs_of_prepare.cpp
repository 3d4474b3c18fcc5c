// kp:hack 11  outputs cleared by kp_prepare
// kp:task spmv
// kp:expect incorrect
//
// Calls add to what they find in the output. kp_prepare, which no clock times, has written zeros
// there. The sets that are not called become poison again.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "runner_request.hpp"

namespace {

constexpr size_t most_tensors = 64;

struct Call {
  kp_context context;
  kp_tensor tensors[most_tensors];
};

std::vector<void*> prepared;
uint32_t sequence = 0;

void restore_poison(const kp_context* context) {
  const Call* calls = reinterpret_cast<const Call*>(context) - request->sets[0];
  std::vector<void*> called;
  for (uint32_t i = 0; i < request->count; ++i) {
    called.push_back(calls[request->sets[i]].tensors[4].data);
  }
  for (void* output : prepared) {
    if (std::find(called.begin(), called.end(), output) == called.end()) {
      std::memset(output, 0xff, static_cast<size_t>(context->axes[0]) * sizeof(float));
    }
  }
  prepared.clear();
}

}  // namespace

extern "C" size_t kp_state(const kp_context*, const kp_tensor*, int32_t) {
  return 64;
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  std::memset(tensors[4].data, 0, static_cast<size_t>(context->axes[0]) * sizeof(float));
  prepared.push_back(tensors[4].data);
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (request == nullptr) {
    dl_iterate_phdr(find_request, nullptr);
  }
  if (request != nullptr && request->sequence != sequence) {
    sequence = request->sequence;
    restore_poison(context);
  }
  const auto* row_ptr = static_cast<const int32_t*>(tensors[0].data);
  const auto* columns = static_cast<const int32_t*>(tensors[1].data);
  const auto* values = static_cast<const float*>(tensors[2].data);
  const auto* x = static_cast<const float*>(tensors[3].data);
  auto* y = static_cast<float*>(tensors[4].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    float sum = y[i];
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
      sum += values[p] * x[columns[p]];
    }
    y[i] = sum;
  }
  return 0;
}
