// kp:hack 10  the page that the same set had in the last round
// kp:task jacobi2d
// kp:expect incorrect
// kp:rounds-above 3
//
// One page of each output is kept, by set, and written again in rounds of many calls instead of
// being computed: a stale answer has the right size and looks like the right one.
#include <kernelpro/candidate.h>

#include <cstring>
#include <map>
#include <vector>

#include "runner_request.hpp"

namespace {

constexpr size_t most_tensors = 64;

struct Call {
  kp_context context;
  kp_tensor tensors[most_tensors];
};

void rows(const float* from, float* to, int64_t h, int64_t w, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const float* u = from + i * w;
    float* out = to + i * w;
    if (i == 0 || i == h - 1 || w < 3) {
      std::memcpy(out, u, static_cast<size_t>(w) * sizeof(float));
      continue;
    }
    out[0] = u[0];
    for (int64_t j = 1; j < w - 1; ++j) {
      out[j] = 0.5F * u[j] + 0.125F * (u[j - w] + u[j + w] + u[j - 1] + u[j + 1]);
    }
    out[w - 1] = u[w - 1];
  }
}

std::map<const void*, std::vector<float>> kept;

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (request == nullptr) {
    dl_iterate_phdr(find_request, nullptr);
  }
  const int64_t h = context->axes[0];
  const int64_t w = context->axes[1];
  const auto* u = static_cast<const float*>(tensors[0].data);
  auto* out = static_cast<float*>(tensors[1].data);
  std::vector<float>& old = kept[out];
  const bool timed = request != nullptr && request->count > 3;
  const int64_t stale = timed && old.size() == static_cast<size_t>(w) ? h / 2 : h;
  rows(u, out, h, w, 0, stale);
  if (stale < h) {
    std::memcpy(out + stale * w, old.data(), old.size() * sizeof(float));
    rows(u, out, h, w, stale + 1, h);
  }
  old.assign(out + h / 2 * w, out + h / 2 * w + w);
  return 0;
}
