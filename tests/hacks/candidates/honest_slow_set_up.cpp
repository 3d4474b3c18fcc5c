// kp:hack honest  takes its time to set itself up, then uses the threads it was given
// kp:task axpy
// kp:expect passed
// kp:twin timing_banks_idle_time.cpp
//
// The first calls wait for what a first call may have to wait for. All threads work in the others.
#include <kernelpro/candidate.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace {

void axpy(const kp_context* context, const kp_tensor* tensors, int64_t first, int64_t last) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = first; i < last; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int calls = 0;
  if (++calls <= 3) {
    usleep(200000);
  }
  const int64_t n = context->axes[0];
  const int64_t parts = n < 100000 ? 1 : context->threads;
  std::vector<std::thread> others;
  for (int64_t part = 1; part < parts; ++part) {
    others.emplace_back(axpy, context, tensors, n * part / parts, n * (part + 1) / parts);
  }
  axpy(context, tensors, 0, n / parts);
  for (std::thread& other : others) {
    other.join();
  }
  return 0;
}
