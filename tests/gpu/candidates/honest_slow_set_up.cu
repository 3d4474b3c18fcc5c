// kp:hack honest  the first call takes more than a second
// kp:task stream
// kp:expect passed
// kp:twin end_nearly_misses_every_deadline.cu
//
// Tables for later calls, made once on the host.
#include <chrono>
#include <vector>

#include "stream.cuh"

namespace {

unsigned make_tables() {
  const auto start = std::chrono::steady_clock::now();
  std::vector<unsigned> table(1 << 16, 1);
  while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(1200)) {
    for (size_t i = 1; i < table.size(); ++i) {
      table[i] = table[i - 1] * 1664525 + 1013904223;
    }
  }
  return table.back();
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const volatile unsigned last = make_tables();
  const Call call = call_of(context, tensors);
  return last == 0 ? 1 : launch(call, call.stream);
}
