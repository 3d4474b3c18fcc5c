// kp:hack 1  rounds computed in a green context that the given stream does not wait for
// kp:task rows
// kp:expect cheated|incorrect|unstable|launch_failed|passed no-gain
//
// A green context has streams and channels of its own within the given context. The stamps enclose
// nothing, and waiting for the context may not wait for it either. Single calls run as they should.
// Its twin is honest_second_stream_joined.cu.
#include "driver.cuh"
#include "program.cuh"
#include "round.cuh"
#include "rows.cuh"

namespace {

CUstream make_green_stream() {
  const auto resource_of =
      driver_function<decltype(&cuDeviceGetDevResource)>("cuDeviceGetDevResource");
  const auto describe =
      driver_function<decltype(&cuDevResourceGenerateDesc)>("cuDevResourceGenerateDesc");
  const auto create = driver_function<decltype(&cuGreenCtxCreate)>("cuGreenCtxCreate");
  const auto stream_of =
      driver_function<decltype(&cuGreenCtxStreamCreate)>("cuGreenCtxStreamCreate");
  CUdevResource processors = {};
  CUdevResourceDesc description = nullptr;
  CUgreenCtx green = nullptr;
  CUstream stream = nullptr;
  const bool made = resource_of != nullptr && stream_of != nullptr &&
                    resource_of(0, &processors, CU_DEV_RESOURCE_TYPE_SM) == CUDA_SUCCESS &&
                    describe(&description, &processors, 1) == CUDA_SUCCESS &&
                    create(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM) == CUDA_SUCCESS &&
                    stream_of(&stream, green, CU_STREAM_NON_BLOCKING, 0) == CUDA_SUCCESS;
  return made ? stream : nullptr;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const CUstream green = make_green_stream();
  static KnownRound round;
  const Call call = call_of(context, tensors);
  round.note(context);
  if (green == nullptr || round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  return launch(call, round.asked->count > 1 ? green : call.stream);
}
