// kp:hack 29  a claim that no machine could keep
// kp:task stream
// kp:expect cheated clock|bound
//
// The runner's way to the driver's clock is redirected to one that tells a nanosecond.
#include "driver.cuh"
#include "program.cuh"
#include "stream.cuh"

namespace {

int no_time(float* milliseconds, void*, void*) {
  *milliseconds = 1e-6F;
  return 0;
}

void patch() {
  const auto elapsed = reinterpret_cast<uint64_t>(driver_function<void*>("cuEventElapsedTime"));
  const Words words = program_words();
  for (size_t i = 0; i < words.count; ++i) {
    if (words.first[i] == elapsed) {
      words.first[i] = reinterpret_cast<uint64_t>(no_time);
    }
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool patched = (patch(), true);
  const Call call = call_of(context, tensors);
  return patched ? launch(call, call.stream) : 1;
}
