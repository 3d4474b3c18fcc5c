// kp:compiler nvcc
// kp:options -O3
// y = a x + b z: a stream through shared memory by the bulk-copy engine. One thread of a block orders whole pieces
// of x and z, STAGES of them ahead; a barrier a stage counts their bytes. Results leave the same way. Whatever
// comes in contiguous pieces can be fetched like this.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune STAGES = 2 3 4 5
constexpr int STAGES = 4;
// kp:tune PER_SM = 2 3 4 5
constexpr int PER_SM = 4;
constexpr int PIECE = 1024;  // elements; pieces begin at multiples of 16 bytes, as the engine wants
constexpr int THREADS = 256;
constexpr uint32_t BYTES = PIECE * sizeof(float);

__device__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void wait(uint32_t barrier, uint32_t parity) {
  uint32_t done = 0;
  while (done == 0) {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
  }
}

__device__ void load_piece(float* to, const float* from, uint32_t barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               :: "r"(shared_address(to)), "l"(from), "r"(BYTES), "r"(barrier) : "memory");
}

__global__ void __launch_bounds__(THREADS) stream(int64_t n, float a, float b, const float* __restrict__ x,
                                                  const float* __restrict__ z, float* __restrict__ y) {
  __shared__ alignas(128) float in[STAGES][2][PIECE];
  __shared__ alignas(128) float out[2][PIECE];
  __shared__ alignas(8) uint64_t full[STAGES];
  const int64_t pieces = n / PIECE;
  const auto order = [&](int64_t piece, int stage) {  // by one thread
    const uint32_t barrier = shared_address(&full[stage]);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"(2 * BYTES) : "memory");
    load_piece(in[stage][0], x + piece * PIECE, barrier);
    load_piece(in[stage][1], z + piece * PIECE, barrier);
  };
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared_address(&full[s])) : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // the engine sees them
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      const int64_t piece = blockIdx.x + static_cast<int64_t>(s) * gridDim.x;
      if (piece < pieces) order(piece, s);
    }
  }
  int use = 0;
  for (int64_t piece = blockIdx.x; piece < pieces; piece += gridDim.x, ++use) {
    const int stage = use % STAGES;
    float* result = out[use % 2];
    wait(shared_address(&full[stage]), (use / STAGES) % 2);
    if (threadIdx.x == 0) {  // what left this buffer two pieces ago has been read
      asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    }
    __syncthreads();
    for (int i = threadIdx.x; i < PIECE; i += THREADS) {
      result[i] = a * in[stage][0][i] + b * in[stage][1][i];
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // by every thread that wrote
    __syncthreads();                                               // and all are done with the stage
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                   :: "l"(y + piece * PIECE), "r"(shared_address(result)), "r"(BYTES) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      const int64_t next = piece + static_cast<int64_t>(STAGES) * gridDim.x;
      if (next < pieces) order(next, stage);
    }
  }
  if (blockIdx.x == 0) {  // less than a piece is left: by threads
    for (int64_t i = pieces * PIECE + threadIdx.x; i < n; i += THREADS) y[i] = a * x[i] + b * z[i];
  }
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");  // shared memory lives as long as the block
  }
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  const int64_t n = context->axes[0];
  if (count != 3 || n == 0) return count != 3;
  int processors = 0;
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, context->device_id);
  const int64_t most = static_cast<int64_t>(processors) * PER_SM;
  const int64_t pieces = n / PIECE;
  const auto blocks = static_cast<unsigned>(pieces < 1 ? 1 : pieces < most ? pieces : most);
  stream<<<blocks, THREADS, 0, static_cast<cudaStream_t>(context->stream)>>>(
      n, static_cast<float>(context->scalars[0]), static_cast<float>(context->scalars[1]),
      static_cast<const float*>(tensors[0].data), static_cast<const float*>(tensors[1].data),
      static_cast<float*>(tensors[2].data));
  return cudaGetLastError() != cudaSuccess;
}
