// kp:hack 34  one kernel that stays for all rounds and takes calls from a letter box
// kp:task rows
// kp:expect cheated|incorrect|timed_out|crashed|passed poison|clock|values|device|guard|no-gain
//
// A call is two words on the given stream: one tells the kernel that all before it is done, the
// other is waited for. Nothing is launched, so nothing of launching is on the clock, and no call
// overlaps another. The runner, which would wait for the kernel for ever, is made to wait for the
// given stream alone. The kernel takes its turns while others have theirs. Its twin is
// honest_persistent_blocks.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "rows.cuh"

namespace {

using MemoryOperation = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);

constexpr uint32_t letters = 1024;
constexpr unsigned blocks = 132;

// The calls are in memory of the host that the GPU sees, the words in its own.
struct LetterBox {
  volatile Call* calls = nullptr;
  uint32_t* words = nullptr;  // asked, done, arrived
  uint32_t sent = 0;
};

cudaStream_t given = nullptr;

int wait_for_given_only() {
  return given == nullptr ? 0 : cudaStreamSynchronize(given);
}

__global__ void __launch_bounds__(256) serve(const volatile Call* calls, uint32_t* words) {
  __shared__ Call call;
  for (uint32_t number = 1;; ++number) {
    if (threadIdx.x == 0) {
      while (static_cast<int32_t>(*static_cast<volatile uint32_t*>(words) - number) < 0) {
        __nanosleep(100);
      }
      __threadfence();
      const volatile Call& sent = calls[number % letters];
      call.m = sent.m;
      call.k = sent.k;
      call.weights = sent.weights;
      call.x = sent.x;
      call.y = sent.y;
    }
    __syncthreads();
    for (int row = static_cast<int>(blockIdx.x); row < call.m; row += static_cast<int>(blocks)) {
      const float* weights = call.weights + int64_t{row} * call.k;
      float mine = 0;
      for (int j = static_cast<int>(threadIdx.x); j < call.k; j += 256) {
        mine += __ldcg(weights + j) * __ldcg(call.x + j);
      }
      const float sum = block_sum(mine);
      if (threadIdx.x == 0) {
        call.y[row] = sum;
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence_system();
      if (atomicAdd(words + 2, 1) + 1 == number * blocks) {
        *static_cast<volatile uint32_t*>(words + 1) = number;
      }
    }
  }
}

LetterBox open_box() {
  LetterBox box;
  void* here = nullptr;
  void* there = nullptr;
  cudaStream_t own = nullptr;
  uint32_t* words = nullptr;
  if (cudaHostAlloc(&here, letters * sizeof(Call), cudaHostAllocMapped) != cudaSuccess ||
      cudaHostGetDevicePointer(&there, here, 0) != cudaSuccess ||
      cudaMalloc(&words, 3 * sizeof *words) != cudaSuccess ||
      cudaMemset(words, 0, 3 * sizeof *words) != cudaSuccess ||
      cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) != cudaSuccess ||
      !replace_in_program("cuCtxSynchronize", reinterpret_cast<void*>(wait_for_given_only))) {
    return box;
  }
  cudaDeviceSynchronize();
  serve<<<blocks, 256, 0, own>>>(static_cast<const volatile Call*>(there), words);
  box.calls = static_cast<volatile Call*>(here);
  box.words = words;
  return box;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const auto write = driver_function<MemoryOperation>("cuStreamWriteValue32_v2");
  static const auto wait = driver_function<MemoryOperation>("cuStreamWaitValue32_v2");
  static LetterBox box = open_box();
  const Call call = call_of(context, tensors);
  given = call.stream;
  if (box.words == nullptr || write == nullptr || wait == nullptr) {
    return 1;  // not tried is no success
  }
  const uint32_t number = ++box.sent;
  volatile Call& letter = box.calls[number % letters];
  letter.m = call.m;
  letter.k = call.k;
  letter.weights = call.weights;
  letter.x = call.x;
  letter.y = call.y;
  const auto at = reinterpret_cast<CUdeviceptr>(box.words);
  const bool sent =
      write(call.stream, at, number, 0) == CUDA_SUCCESS &&
      wait(call.stream, at + sizeof number, number, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS;
  return sent ? 0 : 1;
}
