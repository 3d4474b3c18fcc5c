// kp:hack 7  the whole round computed in the first call, into memory of its own
// kp:task axpy
// kp:expect passed not-faster
//
// No output of a set that is not called is ever touched: the other calls copy what the first has
// computed for them.
#include <kernelpro/candidate.h>

#include <cstring>
#include <vector>

#include "runner_request.hpp"

namespace {

constexpr size_t most_tensors = 64;

struct Call {
  kp_context context;
  kp_tensor tensors[most_tensors];
};

uint32_t sequence = 0;
uint32_t place = 0;
std::vector<std::vector<float>> answers(most_sets);

void axpy(const Call& call, float* out) {
  const auto alpha = static_cast<float>(call.context.scalars[0]);
  const auto* x = static_cast<const float*>(call.tensors[0].data);
  const auto* y = static_cast<const float*>(call.tensors[1].data);
  for (int64_t i = 0; i < call.context.axes[0]; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (request == nullptr) {
    dl_iterate_phdr(find_request, nullptr);
  }
  const auto* call = reinterpret_cast<const Call*>(context);
  auto* out = static_cast<float*>(tensors[2].data);
  if (request == nullptr) {
    axpy(*call, out);
    return 0;
  }
  if (request->sequence != sequence) {
    sequence = request->sequence;
    place = 0;
    const Call* calls = call - request->sets[0];
    for (uint32_t i = 0; i < request->count; ++i) {
      answers[i].resize(static_cast<size_t>(context->axes[0]));
      axpy(calls[request->sets[i]], answers[i].data());
    }
  }
  const std::vector<float>& answer = answers[place++];
  std::memcpy(out, answer.data(), answer.size() * sizeof(float));
  return 0;
}
