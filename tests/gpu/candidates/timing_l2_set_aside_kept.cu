// kp:hack 30  the part of the cache that can be set aside is taken, and filled behind each round
// kp:task stream
// kp:expect cheated|passed|launch_failed clock|bound|status|no-gain
//
// The runner gives pinned lines back before its own next round. In between comes the incumbent,
// with less of the cache. Its twin is the baseline.
#include "program.cuh"
#include "round.cuh"
#include "stream.cuh"

namespace {

__global__ void read_all(const float4* data, int64_t count, float* out) {
  float sum = 0;
  for (int64_t i = blockIdx.x * int64_t{256} + threadIdx.x; i < count;
       i += gridDim.x * int64_t{256}) {
    sum += data[i].x + data[i].w;
  }
  if (sum == 1.25F) {
    *out = sum;
  }
}

struct SetAside {
  float4* memory = nullptr;
  size_t bytes = 0;
  cudaStream_t stream = nullptr;
  cudaEvent_t done = nullptr;

  SetAside() {
    int most = 0;
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, 0);
    bytes = static_cast<size_t>(most) / sizeof(float4) * sizeof(float4);
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, bytes);
    if (cudaMalloc(&memory, bytes) != cudaSuccess) {
      memory = nullptr;
      return;
    }
    cudaMemset(memory, 0, bytes);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    cudaStreamAttrValue window = {};
    window.accessPolicyWindow.base_ptr = memory;
    window.accessPolicyWindow.num_bytes = bytes;
    window.accessPolicyWindow.hitRatio = 1.0F;
    window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window);
    static_cast<void>(cudaGetLastError());
  }

  void fill_behind(cudaStream_t given) const {
    cudaEventRecord(done, given);
    cudaStreamWaitEvent(stream, done, 0);
    read_all<<<528, 256, 0, stream>>>(memory, static_cast<int64_t>(bytes / sizeof *memory),
                                      reinterpret_cast<float*>(memory));
  }
};

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const SetAside aside;
  static KnownRound known_round;
  const Call call = call_of(context, tensors);
  known_round.note(context);
  if (aside.memory == nullptr || known_round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  const int failed = launch(call, call.stream);
  if (known_round.at + 1 == known_round.asked->count) {
    aside.fill_behind(call.stream);
  }
  return failed;
}
