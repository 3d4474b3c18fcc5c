// kp:compiler nvcc
// kp:options -O3
// Three passes. q = A p is computed again where it is needed instead of stored.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 128 256 512
constexpr int BLOCK = 256;
// kp:tune BLOCKS = 264 528 1056
constexpr int BLOCKS = 528;

// What the kernels share in the workspace.
struct Sums {
  double rr[BLOCKS];
  double pq[BLOCKS];
  double rr_next[BLOCKS];
};

// The sum of all threads' values, in every thread. Waits for the whole block.
__device__ double block_sum(double value) {
  __shared__ double partial[BLOCK / 32];
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffU, value, offset);
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    partial[threadIdx.x / 32] = value;
  }
  __syncthreads();
  double sum = 0.0;
  for (int i = 0; i < BLOCK / 32; ++i) {
    sum += partial[i];
  }
  return sum;
}

// Every block adds the sums of all blocks itself, in the same order.
__device__ double total(const double* partial) {
  double sum = 0.0;
  for (int i = static_cast<int>(threadIdx.x); i < BLOCKS; i += BLOCK) {
    sum += partial[i];
  }
  return block_sum(sum);
}

__device__ double applied(int64_t h, int64_t w, const double* __restrict__ p, int64_t at) {
  const int64_t i = at / w;
  const int64_t j = at - i * w;
  double sum = 4.0 * p[at];
  sum -= i > 0 ? p[at - w] : 0.0;
  sum -= i < h - 1 ? p[at + w] : 0.0;
  sum -= j > 0 ? p[at - 1] : 0.0;
  sum -= j < w - 1 ? p[at + 1] : 0.0;
  return sum;
}

__global__ void products(int64_t h, int64_t w, const double* __restrict__ r,
                         const double* __restrict__ p, Sums* sums) {
  double rr = 0.0;
  double pq = 0.0;
  for (int64_t at = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x; at < h * w;
       at += static_cast<int64_t>(BLOCKS) * BLOCK) {
    rr += r[at] * r[at];
    pq += p[at] * applied(h, w, p, at);
  }
  rr = block_sum(rr);
  pq = block_sum(pq);
  if (threadIdx.x == 0) {
    sums->rr[blockIdx.x] = rr;
    sums->pq[blockIdx.x] = pq;
  }
}

__global__ void step(int64_t h, int64_t w, const double* __restrict__ x,
                     const double* __restrict__ r, const double* __restrict__ p, Sums* sums,
                     double* __restrict__ x_next, double* __restrict__ r_next) {
  const double alpha = total(sums->rr) / total(sums->pq);
  double rr_next = 0.0;
  for (int64_t at = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x; at < h * w;
       at += static_cast<int64_t>(BLOCKS) * BLOCK) {
    x_next[at] = x[at] + alpha * p[at];
    const double rest = r[at] - alpha * applied(h, w, p, at);
    r_next[at] = rest;
    rr_next += rest * rest;
  }
  rr_next = block_sum(rr_next);
  if (threadIdx.x == 0) {
    sums->rr_next[blockIdx.x] = rr_next;
  }
}

__global__ void direct(int64_t n, const Sums* sums, const double* __restrict__ r_next,
                       const double* __restrict__ p, double* __restrict__ p_next) {
  const double beta = total(sums->rr_next) / total(sums->rr);
  for (int64_t at = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x; at < n;
       at += static_cast<int64_t>(BLOCKS) * BLOCK) {
    p_next[at] = r_next[at] + beta * p[at];
  }
}

}  // namespace

size_t kp_workspace(const kp_context* /*context*/, const kp_tensor* /*tensors*/,
                    int32_t /*count*/) {
  return sizeof(Sums);
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 6 || context->workspace_bytes < kp_workspace(context, tensors, count)) {
    return 1;
  }
  const int64_t h = context->axes[0];
  const int64_t w = context->axes[1];
  const auto* x = static_cast<const double*>(tensors[0].data);
  const auto* r = static_cast<const double*>(tensors[1].data);
  const auto* p = static_cast<const double*>(tensors[2].data);
  auto* r_next = static_cast<double*>(tensors[4].data);
  auto* sums = static_cast<Sums*>(context->workspace);
  auto stream = static_cast<cudaStream_t>(context->stream);
  products<<<BLOCKS, BLOCK, 0, stream>>>(h, w, r, p, sums);
  step<<<BLOCKS, BLOCK, 0, stream>>>(h, w, x, r, p, sums, static_cast<double*>(tensors[3].data),
                                     r_next);
  direct<<<BLOCKS, BLOCK, 0, stream>>>(h * w, sums, r_next, p,
                                       static_cast<double*>(tensors[5].data));
  return cudaGetLastError() != cudaSuccess;
}
