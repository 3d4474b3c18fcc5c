// kp:hack 4  a kernel writes to the runner's own request, which is pinned for it
// kp:task stream
// kp:expect cheated|incorrect|unstable|crashed|launch_failed
//
// Memory of the process can be registered with the driver, the program's variables as well: then
// the GPU changes the list of sets while the runner goes through it. Its twin is the baseline.
#include "program.cuh"
#include "round.cuh"
#include "stream.cuh"

namespace {

uint16_t* registered(const Asked* asked) {
  constexpr uint64_t page = 4096;
  const auto at = reinterpret_cast<uint64_t>(asked);
  const uint64_t first = at / page * page;
  void* there = nullptr;
  if (cudaHostRegister(reinterpret_cast<void*>(first), 2 * page, cudaHostRegisterMapped) !=
          cudaSuccess ||
      cudaHostGetDevicePointer(&there, reinterpret_cast<void*>(first), 0) != cudaSuccess) {
    return nullptr;
  }
  return reinterpret_cast<uint16_t*>(static_cast<char*>(there) + (at - first) +
                                     offsetof(Asked, sets));
}

__global__ void same_set_for_all(volatile uint16_t* sets, uint32_t count) {
  for (uint32_t i = 1; i < count; ++i) {
    sets[i] = sets[0];
  }
  __threadfence_system();
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static KnownRound known_round;
  const Call call = call_of(context, tensors);
  const bool first = known_round.note(context);
  if (known_round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  static uint16_t* const sets = registered(known_round.asked);
  if (sets == nullptr) {
    return 1;
  }
  if (first && known_round.asked->count > 8) {
    same_set_for_all<<<1, 1, 0, call.stream>>>(sets, known_round.asked->count);
    cudaStreamSynchronize(call.stream);
  }
  return launch(call, call.stream);
}
