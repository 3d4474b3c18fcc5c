// kp:compiler nvcc
// kp:options -O3
// LANES neighboring threads share a document, so that its entries are read contiguously.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune LANES = 4 8 16 32
constexpr int LANES = 16;
// kp:tune BLOCK = 64 128 256 512
constexpr int BLOCK = 256;
constexpr int DOCUMENTS = BLOCK / LANES;

__global__ void sparse_scores(int64_t documents, float k, const int32_t* __restrict__ starts,
                              const int32_t* __restrict__ term, const float* __restrict__ tf,
                              const float* __restrict__ norm, const float* __restrict__ weight,
                              float* __restrict__ score) {
  const int lane = static_cast<int>(threadIdx.x) % LANES;
  const int64_t d = static_cast<int64_t>(blockIdx.x) * DOCUMENTS + threadIdx.x / LANES;
  // Threads beyond the last document stay for the shuffles of their warp.
  const bool real = d < documents;
  const int32_t begin = real ? starts[d] : 0;
  const int32_t end = real ? starts[d + 1] : 0;
  const float half = real ? k * norm[d] : 1.0F;
  float sum = 0.0F;
  for (int32_t p = begin + lane; p < end; p += LANES) {
    const float count = tf[p];
    sum += weight[term[p]] * count / (count + half);
  }
  for (int offset = LANES / 2; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffffU, sum, offset);
  }
  if (lane == 0 && real) {
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
  const auto blocks = static_cast<unsigned>((documents + DOCUMENTS - 1) / DOCUMENTS);
  sparse_scores<<<blocks, BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      documents, static_cast<float>(context->scalars[0]),
      static_cast<const int32_t*>(tensors[0].data), static_cast<const int32_t*>(tensors[1].data),
      static_cast<const float*>(tensors[2].data), static_cast<const float*>(tensors[3].data),
      static_cast<const float*>(tensors[4].data), static_cast<float*>(tensors[5].data));
  return cudaGetLastError() != cudaSuccess;
}
