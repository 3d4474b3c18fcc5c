// One thread for each output.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune BLOCK = 64 128 256 512
constexpr int BLOCK = 256;

__global__ void conv2d(int64_t images, int64_t in, int64_t out, int64_t h, int64_t w,
                       const float* x, const float* filters, float* y) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
  if (at >= images * out * h * w) {
    return;
  }
  const int64_t j = at % w;
  const int64_t i = at / w % h;
  const int64_t o = at / (w * h) % out;
  const int64_t b = at / (w * h * out);
  float sum = 0.0F;
  for (int64_t c = 0; c < in; ++c) {
    for (int64_t u = 0; u < 3; ++u) {
      for (int64_t v = 0; v < 3; ++v) {
        const int64_t row = i + u - 1;
        const int64_t column = j + v - 1;
        if (row >= 0 && row < h && column >= 0 && column < w) {
          sum += filters[((o * in + c) * 3 + u) * 3 + v] * x[((b * in + c) * h + row) * w + column];
        }
      }
    }
  }
  y[at] = sum;
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3) {
    return 1;
  }
  const int64_t* axes = context->axes;
  const int64_t outputs = axes[0] * axes[2] * axes[3] * axes[4];
  if (outputs == 0) {
    return 0;
  }
  const auto blocks = static_cast<unsigned>((outputs + BLOCK - 1) / BLOCK);
  conv2d<<<blocks, BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      axes[0], axes[1], axes[2], axes[3], axes[4], static_cast<const float*>(tensors[0].data),
      static_cast<const float*>(tensors[1].data), static_cast<float*>(tensors[2].data));
  return cudaGetLastError() != cudaSuccess;
}
