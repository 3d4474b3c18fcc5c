// kp:hack 6  the inputs of all sets mapped to one piece of memory
// kp:task stream
// kp:expect incorrect|cheated|crashed|launch_failed poison|values|guard|device|status|input_write
//
// Sets exceed the cache because each has its own memory. A process may map one piece at the
// addresses of all of them, which the cache holds; but the worker gives no values to that one. Its
// twin is the baseline.
#include <set>

#include "driver.cuh"
#include "mappings.cuh"
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static CUmemGenericAllocationHandle shared = 0;
  static size_t shared_bytes = 0;
  static std::set<CUdeviceptr> moved;
  const Call call = call_of(context, tensors);
  const Mapped input = mapped_at(call.x);
  if (input.bytes == 0) {
    return 1;
  }
  if (shared_bytes != input.bytes) {
    shared = own_memory(input.bytes);
    shared_bytes = input.bytes;
    moved.clear();
  }
  if (moved.insert(input.base).second && !map_instead(input, shared)) {
    return 1;
  }
  return launch(call, call.stream);
}
