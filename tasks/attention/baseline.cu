// All scores go to memory: a thread for each score, a block for each row's softmax, a thread for
// each output.
#include <cmath>
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 64 128 256 512
constexpr int BLOCK = 256;
// kp:tune UNROLL = 1 2 4 8 16
constexpr int UNROLL = 4;

__global__ void compute_scores(int64_t heads, int64_t n, int64_t d, float scale, const float* Q,
                               const float* K, float* scores) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
  if (at >= heads * n * n) {
    return;
  }
  const int64_t j = at % n;
  const int64_t row = at / n;  // of all heads
  const int64_t b = row / n;
  float sum = 0.0F;
#pragma unroll UNROLL
  for (int64_t c = 0; c < d; ++c) {
    sum += Q[row * d + c] * K[(b * n + j) * d + c];
  }
  scores[at] = sum * scale;
}

// Scores to exponentials; the sum of each row to `totals`.
__global__ void compute_weights(int64_t n, float* scores, float* totals) {
  __shared__ float partial[BLOCK];
  float* row = scores + blockIdx.x * n;
  float largest = row[0];
  for (int64_t j = threadIdx.x; j < n; j += BLOCK) {
    largest = fmaxf(largest, row[j]);
  }
  partial[threadIdx.x] = largest;
  __syncthreads();
  for (unsigned half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      partial[threadIdx.x] = fmaxf(partial[threadIdx.x], partial[threadIdx.x + half]);
    }
    __syncthreads();
  }
  largest = partial[0];
  __syncthreads();
  float sum = 0.0F;
  for (int64_t j = threadIdx.x; j < n; j += BLOCK) {
    row[j] = expf(row[j] - largest);
    sum += row[j];
  }
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    totals[blockIdx.x] = partial[0];
  }
}

__global__ void compute_outputs(int64_t heads, int64_t n, int64_t d, const float* weights,
                                const float* totals, const float* V, float* O) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
  if (at >= heads * n * d) {
    return;
  }
  const int64_t c = at % d;
  const int64_t row = at / d;  // of all heads
  const int64_t b = row / n;
  float sum = 0.0F;
#pragma unroll UNROLL
  for (int64_t j = 0; j < n; ++j) {
    sum += weights[row * n + j] * V[(b * n + j) * d + c];
  }
  O[at] = sum / totals[row];
}

unsigned blocks_for(int64_t threads) {
  return static_cast<unsigned>((threads + BLOCK - 1) / BLOCK);
}

}  // namespace

// For the scores and the sum of each row.
size_t kp_workspace(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  const int64_t heads = context->axes[0];
  const int64_t n = context->axes[1];
  return static_cast<size_t>(heads * n * (n + 1)) * sizeof(float);
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 4 || context->workspace_bytes < kp_workspace(context, tensors, count)) {
    return 1;
  }
  const int64_t heads = context->axes[0];
  const int64_t n = context->axes[1];
  const int64_t d = context->axes[2];
  if (heads == 0 || n == 0 || d == 0) {
    return 0;
  }
  auto* scores = static_cast<float*>(context->workspace);
  float* totals = scores + heads * n * n;
  const float scale = 1.0F / std::sqrt(static_cast<float>(d));
  auto stream = static_cast<cudaStream_t>(context->stream);
  compute_scores<<<blocks_for(heads * n * n), BLOCK, 0, stream>>>(
      heads, n, d, scale, static_cast<const float*>(tensors[0].data),
      static_cast<const float*>(tensors[1].data), scores);
  compute_weights<<<static_cast<unsigned>(heads * n), BLOCK, 0, stream>>>(n, scores, totals);
  compute_outputs<<<blocks_for(heads * n * d), BLOCK, 0, stream>>>(
      heads, n, d, scores, totals, static_cast<const float*>(tensors[2].data),
      static_cast<float*>(tensors[3].data));
  return cudaGetLastError() != cudaSuccess;
}
