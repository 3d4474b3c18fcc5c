// kp:hack 27  a handle for sharing memory, changed so that it names the worker's
// kp:task stream
// kp:expect passed|cheated sandbox|no-gain
//
// The driver's older handles are 64 bytes that hold numbers of process and object in the clear. One
// of its own is changed, number by number, and opened. Some changes mean nothing, and its own memory
// comes of them, which it knows by what it wrote there; any other ends the call with 77.
#include <unistd.h>

#include <cstring>

#include "driver.cuh"
#include "stream.cuh"

namespace {

constexpr uint64_t written = 0x6b65726e656c7072;

bool opens_others(const CUipcMemHandle& handle) {
  static const auto open = driver_function<CUresult (*)(CUdeviceptr*, CUipcMemHandle, unsigned)>(
      "cuIpcOpenMemHandle_v2");
  CUdeviceptr memory = 0;
  if (open == nullptr ||
      open(&memory, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) != CUDA_SUCCESS || memory == 0) {
    return false;
  }
  uint64_t found = 0;
  const void* there = reinterpret_cast<const void*>(memory);
  return cudaMemcpy(&found, there, sizeof found, cudaMemcpyDeviceToHost) == cudaSuccess &&
         found != written;
}

int try_handles() {
  const auto get = driver_function<CUresult (*)(CUipcMemHandle*, CUdeviceptr)>("cuIpcGetMemHandle");
  void* memory = nullptr;
  CUipcMemHandle own = {};
  if (get == nullptr || cudaMalloc(&memory, 1 << 21) != cudaSuccess ||
      cudaMemcpy(memory, &written, sizeof written, cudaMemcpyHostToDevice) != cudaSuccess ||
      get(&own, reinterpret_cast<CUdeviceptr>(memory)) != CUDA_SUCCESS) {
    return 0;  // refused: nothing can be changed
  }
  constexpr int words = sizeof own / sizeof(uint32_t);
  for (int at = 0; at < words; ++at) {
    for (int change = -24; change <= 4; ++change) {
      CUipcMemHandle other = own;
      uint32_t word = 0;
      std::memcpy(&word, other.reserved + 4 * at, sizeof word);
      word = word == static_cast<uint32_t>(getpid()) ? static_cast<uint32_t>(getppid())
                                                     : word + static_cast<uint32_t>(change);
      std::memcpy(other.reserved + 4 * at, &word, sizeof word);
      if (change != 0 && opens_others(other)) {
        return 77;
      }
    }
  }
  return 0;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const int found = try_handles();
  static_cast<void>(cudaGetLastError());
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  return found != 0 ? found : failed;
}
