// The activation of a small language model, with a program that compares both versions.
#include <cmath>
#include <vector>

#include "check.cuh"

typedef float floatX;

#define GELU_SCALING_FACTOR 0.7978845608028654f

void gelu_forward_cpu(float* out, const float* inp, int N) {
  for (int i = 0; i < N; ++i) {
    const float x = inp[i];
    const float cube = 0.044715f * x * x * x;
    out[i] = 0.5f * x * (1.0f + tanhf(GELU_SCALING_FACTOR * (x + cube)));
  }
}

__global__ void gelu_forward_kernel(floatX* out, const floatX* inp, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) {
    const float x = static_cast<float>(inp[i]);
    const float cube = 0.044715f * x * x * x;
    out[i] = static_cast<floatX>(0.5f * x * (1.0f + tanhf(GELU_SCALING_FACTOR * (x + cube))));
  }
}

void gelu_forward(floatX* out, const floatX* inp, int N, cudaStream_t stream) {
  const int block_size = 128;
  gelu_forward_kernel<<<ceil_div(N, block_size), block_size, 0, stream>>>(out, inp, N);
  CUDA_CHECK(cudaGetLastError());
}

int main() {
  const int N = 1 << 12;
  std::vector<float> inp(N, 0.5f), out(N), expected(N);
  float *d_inp = nullptr, *d_out = nullptr;
  CUDA_CHECK(cudaMalloc(&d_inp, N * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&d_out, N * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(d_inp, inp.data(), N * sizeof(float), cudaMemcpyHostToDevice));
  gelu_forward(d_out, d_inp, N, 0);
  CUDA_CHECK(cudaMemcpy(out.data(), d_out, N * sizeof(float), cudaMemcpyDeviceToHost));
  gelu_forward_cpu(expected.data(), inp.data(), N);
  for (int i = 0; i < N; ++i)
    if (std::fabs(out[i] - expected[i]) > 1e-5f) return 1;
  return 0;
}
