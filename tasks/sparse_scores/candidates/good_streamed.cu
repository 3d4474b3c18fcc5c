// kp:compiler nvcc
// kp:options -O3
// A block reads the entries of its documents as one contiguous stream, CHUNK at a time, and leaves
// weight and count in shared memory; then each thread adds up those of its own document.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 64 128 256
constexpr int BLOCK = 128;
// kp:tune PER_THREAD = 4 8 16
constexpr int PER_THREAD = 8;
constexpr int CHUNK = BLOCK * PER_THREAD;

__global__ void sparse_scores(int64_t documents, float k, const int32_t* __restrict__ starts,
                              const int32_t* __restrict__ term, const float* __restrict__ tf,
                              const float* __restrict__ norm, const float* __restrict__ weight,
                              float* __restrict__ score) {
  __shared__ float weights[CHUNK];
  __shared__ float counts[CHUNK];
  const int64_t first_document = static_cast<int64_t>(blockIdx.x) * BLOCK;
  const int64_t d = first_document + threadIdx.x;
  const int32_t block_end = starts[min(first_document + BLOCK, documents)];
  const int32_t begin = starts[min(d, documents)];
  const int32_t end = starts[min(d + 1, documents)];
  const float half = d < documents ? k * norm[d] : 1.0F;
  float sum = 0.0F;
  for (int32_t first = starts[first_document]; first < block_end; first += CHUNK) {
    const int32_t last = min(first + CHUNK, block_end);
    for (int32_t p = first + static_cast<int32_t>(threadIdx.x); p < last; p += BLOCK) {
      weights[p - first] = weight[term[p]];
      counts[p - first] = tf[p];
    }
    __syncthreads();
    for (int32_t p = max(begin, first); p < min(end, last); ++p) {
      const float count = counts[p - first];
      sum += weights[p - first] * count / (count + half);
    }
    __syncthreads();
  }
  if (d < documents) {
    score[d] = sum;
  }
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 6) {
    return 1;
  }
  const int64_t documents = context->axes[0];
  if (documents == 0) {
    return 0;
  }
  const auto blocks = static_cast<unsigned>((documents + BLOCK - 1) / BLOCK);
  sparse_scores<<<blocks, BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      documents, static_cast<float>(context->scalars[0]),
      static_cast<const int32_t*>(tensors[0].data), static_cast<const int32_t*>(tensors[1].data),
      static_cast<const float*>(tensors[2].data), static_cast<const float*>(tensors[3].data),
      static_cast<const float*>(tensors[4].data), static_cast<float*>(tensors[5].data));
  return cudaGetLastError() != cudaSuccess;
}
