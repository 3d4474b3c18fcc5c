// One thread for each pair of a document and a query token finds that token's largest dot product;
// then one thread for each document adds them up.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 32 64 128 256
constexpr int BLOCK = 128;
// kp:tune UNROLL = 1 2 4 8 16
constexpr int UNROLL = 4;

__global__ void find_largest(int64_t query_tokens, int64_t documents, int64_t tokens, int64_t d,
                             const float* query, const float* document, float* largest) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
  if (at >= documents * query_tokens) {
    return;
  }
  const int64_t b = at / query_tokens;
  const int64_t q = at % query_tokens;
  float best = 0.0F;
  for (int64_t t = 0; t < tokens; ++t) {
    float sum = 0.0F;
#pragma unroll UNROLL
    for (int64_t j = 0; j < d; ++j) {
      sum += query[q * d + j] * document[(b * tokens + t) * d + j];
    }
    if (t == 0 || sum > best) {
      best = sum;
    }
  }
  largest[at] = best;
}

__global__ void add_up(int64_t query_tokens, int64_t documents, const float* largest,
                       float* score) {
  const int64_t b = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
  if (b < documents) {
    float total = 0.0F;
    for (int64_t q = 0; q < query_tokens; ++q) {
      total += largest[b * query_tokens + q];
    }
    score[b] = total;
  }
}

unsigned blocks_for(int64_t threads) {
  return static_cast<unsigned>((threads + BLOCK - 1) / BLOCK);
}

}  // namespace

// For the largest dot products.
size_t kp_workspace(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  return static_cast<size_t>(context->axes[0] * context->axes[1]) * sizeof(float);
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3 || context->workspace_bytes < kp_workspace(context, tensors, count)) {
    return 1;
  }
  const int64_t query_tokens = context->axes[0];
  const int64_t documents = context->axes[1];
  if (documents == 0 || query_tokens == 0) {
    return 0;
  }
  auto* largest = static_cast<float*>(context->workspace);
  auto stream = static_cast<cudaStream_t>(context->stream);
  find_largest<<<blocks_for(documents * query_tokens), BLOCK, 0, stream>>>(
      query_tokens, documents, context->axes[2], context->axes[3],
      static_cast<const float*>(tensors[0].data), static_cast<const float*>(tensors[1].data),
      largest);
  add_up<<<blocks_for(documents), BLOCK, 0, stream>>>(query_tokens, documents, largest,
                                                      static_cast<float*>(tensors[2].data));
  return cudaGetLastError() != cudaSuccess;
}
