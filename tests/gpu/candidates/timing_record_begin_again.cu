// kp:hack 3  the runner's first stamp is recorded again after the work
// kp:task stream
// kp:expect cheated clock
//
// The runner keeps the handles of its two stamps beside the stream's: data that nothing can hide.
// No code is patched.
#include "driver.cuh"
#include "program.cuh"
#include "stream.cuh"

namespace {

// Behind the stream among the runner's variables come the two events.
void* find_begin(void* stream) {
  const Words words = program_words();
  for (size_t i = 0; i + 2 < words.count; ++i) {
    if (words.first[i] == reinterpret_cast<uint64_t>(stream) && words.first[i + 1] != 0 &&
        words.first[i + 2] != 0) {
      return reinterpret_cast<void*>(words.first[i + 1]);
    }
  }
  return nullptr;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static void* const begin = find_begin(context->stream);
  static const auto record = driver_function<int (*)(void*, void*)>("cuEventRecord");
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  return begin == nullptr ? 1 : failed + record(begin, context->stream);
}
