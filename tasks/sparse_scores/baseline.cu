// One thread for each document.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 64 128 256 512
constexpr int BLOCK = 256;
// kp:tune UNROLL = 1 2 4 8 16
constexpr int UNROLL = 4;

__global__ void sparse_scores(int64_t documents, float k, const int32_t* starts,
                              const int32_t* term, const float* tf, const float* norm,
                              const float* weight, float* score) {
  const int64_t d = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
  if (d < documents) {
    const float half = k * norm[d];  // the count with half of the full effect
    float sum = 0.0F;
#pragma unroll UNROLL
    for (int32_t p = starts[d]; p < starts[d + 1]; ++p) {
      sum += weight[term[p]] * tf[p] / (tf[p] + half);
    }
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
