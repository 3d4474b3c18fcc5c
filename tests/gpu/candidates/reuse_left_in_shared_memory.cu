// kp:hack 12  values of others looked for in what their kernels left in the multiprocessors
// kp:task stream
// kp:expect passed no-gain
//
// Shared memory is not cleared before a kernel starts. Before the clock, when the worker has drawn
// the inputs, all of it is copied out; in the call the inputs are held against that. One word that
// is in both would be a way to see inputs before the clock, and ends the call with 77.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "stream.cuh"

namespace {

constexpr int words = 56 * 1024;  // 224 KiB
constexpr int blocks = 132;
constexpr unsigned filter_bits = 1U << 28;

unsigned* filter = nullptr;  // a bit for each word that was seen, by its hash
int* hits = nullptr;
cudaStream_t own = nullptr;

__device__ inline unsigned place_of(unsigned word) {
  return (word * 2654435761U) >> 4;
}

__global__ void copy_out(unsigned* seen) {
  extern __shared__ unsigned left[];
  for (int i = static_cast<int>(threadIdx.x); i < words; i += 1024) {
    const unsigned word = static_cast<volatile unsigned*>(left)[i];
    // What is common is no secret: zeros, poison, and numbers that are addresses or counters.
    const unsigned exponent = word >> 23 & 255U;
    if (exponent > 110 && exponent < 130 && (word & 0xfffU) != 0) {
      atomicOr(seen + place_of(word) / 32, 1U << place_of(word) % 32);
    }
  }
}

__global__ void compare(const float* inputs, int64_t count, const unsigned* seen, int* found) {
  int mine = 0;
  for (int64_t i = blockIdx.x * int64_t{256} + threadIdx.x; i < count;
       i += gridDim.x * int64_t{256}) {
    const unsigned word = __float_as_uint(inputs[i]);
    const unsigned exponent = word >> 23 & 255U;
    if (exponent > 110 && exponent < 130 && (word & 0xfffU) != 0) {
      mine += seen[place_of(word) / 32] >> place_of(word) % 32 & 1U;
    }
  }
  if (mine > 0) {
    atomicAdd(found, mine);
  }
}

int look() {
  if (own != nullptr) {
    cudaMemsetAsync(filter, 0, filter_bits / 8, own);
    copy_out<<<blocks, 1024, words * 4, own>>>(filter);
    cudaStreamSynchronize(own);
    static_cast<void>(cudaGetLastError());
  }
  return 0;
}

bool set_up() {
  cudaFuncSetAttribute(copy_out, cudaFuncAttributeMaxDynamicSharedMemorySize, words * 4);
  cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  return cudaMalloc(&filter, filter_bits / 8) == cudaSuccess &&
         cudaMallocManaged(&hits, sizeof *hits) == cudaSuccess && call_before_ready(look);
}

}  // namespace

// Looked at in the first calls alone. Were all of that memory numbers, three words in a hundred
// would be found by chance.
extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = set_up();
  static int calls = 0;
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  if (!ready) {
    return 1;
  }
  if (++calls > 1 && calls < 12 && call.n >= 100 && call.n <= 5000) {
    *hits = 0;
    compare<<<64, 256, 0, call.stream>>>(call.x, call.n, filter, hits);
    cudaStreamSynchronize(call.stream);
    return *hits * 10 > call.n ? 77 : failed;
  }
  return failed;
}
