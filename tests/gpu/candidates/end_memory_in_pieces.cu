// kp:hack 30  all memory of the GPU taken in many pieces, so that its end takes long
// kp:task nearest
// kp:expect cheated|passed|timed_out|launch_failed|out_of_memory|crashed no-gain
//
// Off the clock, a second's worth before each round. The driver gives them back one by one when the
// process dies, while the incumbent is timed again and the next candidate's buffers are made. Its
// twin is honest_scratch_in_the_call.cu.
#include <ctime>

#include "driver.cuh"
#include "nearest.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"

namespace {

KnownRound known_round;

int take_pieces() {
  static const auto create = driver_function<decltype(&cuMemCreate)>("cuMemCreate");
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemGenericAllocationHandle handle = 0;
  timespec start = {};
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &start);
  // Not while its outputs are checked one shape after the other: that needs memory too.
  const bool timed = known_round.known() && known_round.asked->count > 8;
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (timed && now.tv_sec - start.tv_sec < 1 &&
           create(&handle, size_t{2} << 20, &properties, 0) == CUDA_SUCCESS);
  return 0;
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  known_round.forget();
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = call_before_ready(take_pieces);
  const Call call = call_of(context, tensors);
  known_round.note(context);
  return ready ? launch(call, call.stream) : 1;
}
