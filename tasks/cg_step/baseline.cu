// A kernel for each step of the iteration. An inner product is a sum for each block, then one
// thread adds the blocks' sums.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 64 128 256 512
constexpr int BLOCK = 256;
// kp:tune DOT_BLOCKS = 132 264 528 1056
constexpr int DOT_BLOCKS = 528;

// What the kernels share in the workspace, in front of q.
struct Sums {
  double rr;
  double pq;
  double rr_next;
  double partial[DOT_BLOCKS];
};

__global__ void apply(int64_t h, int64_t w, const double* p, double* q) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
  if (at >= h * w) {
    return;
  }
  const int64_t i = at / w;
  const int64_t j = at % w;
  double sum = 4.0 * p[at];
  if (i > 0) {
    sum -= p[at - w];
  }
  if (i < h - 1) {
    sum -= p[at + w];
  }
  if (j > 0) {
    sum -= p[at - 1];
  }
  if (j < w - 1) {
    sum -= p[at + 1];
  }
  q[at] = sum;
}

__global__ void dot_blocks(int64_t n, const double* a, const double* b, double* partial) {
  __shared__ double sums[BLOCK];
  double sum = 0.0;
  for (int64_t at = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x; at < n;
       at += static_cast<int64_t>(DOT_BLOCKS) * BLOCK) {
    sum += a[at] * b[at];
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sums[0];
  }
}

__global__ void add_blocks(const double* partial, double* out) {
  double sum = 0.0;
  for (int i = 0; i < DOT_BLOCKS; ++i) {
    sum += partial[i];
  }
  *out = sum;
}

__global__ void step_x(int64_t n, const Sums* sums, const double* x, const double* p,
                       double* x_next) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
  if (at < n) {
    x_next[at] = x[at] + sums->rr / sums->pq * p[at];
  }
}

__global__ void step_r(int64_t n, const Sums* sums, const double* r, const double* q,
                       double* r_next) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
  if (at < n) {
    r_next[at] = r[at] - sums->rr / sums->pq * q[at];
  }
}

__global__ void step_p(int64_t n, const Sums* sums, const double* r_next, const double* p,
                       double* p_next) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
  if (at < n) {
    p_next[at] = r_next[at] + sums->rr_next / sums->rr * p[at];
  }
}

void dot(cudaStream_t stream, int64_t n, const double* a, const double* b, Sums* sums,
         double* out) {
  dot_blocks<<<DOT_BLOCKS, BLOCK, 0, stream>>>(n, a, b, sums->partial);
  add_blocks<<<1, 1, 0, stream>>>(sums->partial, out);
}

}  // namespace

size_t kp_workspace(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  return sizeof(Sums) + static_cast<size_t>(context->axes[0] * context->axes[1]) * sizeof(double);
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 6 || context->workspace_bytes < kp_workspace(context, tensors, count)) {
    return 1;
  }
  const int64_t h = context->axes[0];
  const int64_t w = context->axes[1];
  const int64_t n = h * w;
  if (n == 0) {
    return 0;
  }
  const auto* x = static_cast<const double*>(tensors[0].data);
  const auto* r = static_cast<const double*>(tensors[1].data);
  const auto* p = static_cast<const double*>(tensors[2].data);
  auto* x_next = static_cast<double*>(tensors[3].data);
  auto* r_next = static_cast<double*>(tensors[4].data);
  auto* p_next = static_cast<double*>(tensors[5].data);
  auto* sums = static_cast<Sums*>(context->workspace);
  auto* q = reinterpret_cast<double*>(sums + 1);
  auto stream = static_cast<cudaStream_t>(context->stream);
  const auto blocks = static_cast<unsigned>((n + BLOCK - 1) / BLOCK);
  apply<<<blocks, BLOCK, 0, stream>>>(h, w, p, q);
  dot(stream, n, r, r, sums, &sums->rr);
  dot(stream, n, p, q, sums, &sums->pq);
  step_x<<<blocks, BLOCK, 0, stream>>>(n, sums, x, p, x_next);
  step_r<<<blocks, BLOCK, 0, stream>>>(n, sums, r, q, r_next);
  dot(stream, n, r_next, r_next, sums, &sums->rr_next);
  step_p<<<blocks, BLOCK, 0, stream>>>(n, sums, r_next, p, p_next);
  return cudaGetLastError() != cudaSuccess;
}
