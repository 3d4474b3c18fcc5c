// What error each way to split single precision leaves on tensor cores: products of 64 x K and K x 64 with normal
// inputs, held against double; the largest error by the root of K, beside that of multiply-adds in f32.
//   nvcc -O3 -std=c++17 -gencode=arch=compute_90a,code=sm_90a bench/split_precision.cu -o split_precision
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace wmma = nvcuda::wmma;

namespace {

constexpr int SIDE = 64;
constexpr int LONGEST_SUM = 64;  // of k in one accumulator, then plain f32

// A factor as PARTS numbers of a smaller type, the largest first. Each is `step` times smaller than
// the one before once it is stored; products are multiplied back.
struct Tf32 {
  using Type = wmma::precision::tf32;
  using Stored = float;
  static constexpr int parts = 2, k = 8;
  static constexpr float step = 1;
  static __device__ float rounded(float x) { return wmma::__float_to_tf32(x); }
  static __device__ float value(float x) { return x; }
};

template <int Parts>
struct Bf16 {
  using Type = __nv_bfloat16;
  using Stored = __nv_bfloat16;
  static constexpr int parts = Parts, k = 16;
  static constexpr float step = 1;
  static __device__ __nv_bfloat16 rounded(float x) { return __float2bfloat16(x); }
  static __device__ float value(__nv_bfloat16 x) { return __bfloat162float(x); }
};

// The second part would be denormal, so it is stored 2^11 times as large.
struct F16 {
  using Type = __half;
  using Stored = __half;
  static constexpr int parts = 2, k = 16;
  static constexpr float step = 2048;
  static __device__ __half rounded(float x) { return __float2half(x); }
  static __device__ float value(__half x) { return __half2float(x); }
};

template <typename Format>
__global__ void split_product(int K, int orders, bool move, const float* A, const float* B, float* C) {
  using Stored = typename Format::Stored;
  __shared__ alignas(128) Stored a[Format::parts][16][Format::k];
  __shared__ alignas(128) Stored b[Format::parts][Format::k][16];
  wmma::fragment<wmma::matrix_a, 16, 16, Format::k, typename Format::Type, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, Format::k, typename Format::Type, wmma::row_major> right;
  using Sums = wmma::fragment<wmma::accumulator, 16, 16, Format::k, float>;
  Sums total, sums[3];  // by the order of the product: how small its parts are together
  wmma::fill_fragment(total, 0);
  for (Sums& one : sums) wmma::fill_fragment(one, 0);
  const auto collect = [&] {
    for (int e = 0; e < total.num_elements; ++e) {
      const float scale = 1 / Format::step;
      total.x[e] += sums[0].x[e] + scale * (sums[1].x[e] + scale * sums[2].x[e]);
    }
    for (Sums& one : sums) wmma::fill_fragment(one, 0);
  };
  for (int first = 0; first < K; first += Format::k) {
    for (int e = threadIdx.x; e < 16 * Format::k; e += 32) {
      float x = A[(blockIdx.y * 16 + e / Format::k) * K + first + e % Format::k];
      float y = B[(first + e / 16) * SIDE + blockIdx.x * 16 + e % 16];
      for (int p = 0; p < Format::parts; ++p) {
        const Stored stored_x = Format::rounded(x), stored_y = Format::rounded(y);
        a[p][e / Format::k][e % Format::k] = stored_x;
        b[p][e / 16][e % 16] = stored_y;
        x = (x - Format::value(stored_x)) * Format::step;
        y = (y - Format::value(stored_y)) * Format::step;
      }
    }
    __syncwarp();
    for (int p = 0; p < Format::parts; ++p) {
      for (int q = 0; q < Format::parts && p + q <= orders; ++q) {
        wmma::load_matrix_sync(left, &a[p][0][0], Format::k);
        wmma::load_matrix_sync(right, &b[q][0][0], 16);
        wmma::mma_sync(sums[p + q], left, right, sums[p + q]);
      }
    }
    __syncwarp();
    if (move && (first + Format::k) % LONGEST_SUM == 0) collect();
  }
  collect();
  wmma::store_matrix_sync(C + blockIdx.y * 16 * SIDE + blockIdx.x * 16, total, SIDE, wmma::mem_row_major);
}

__global__ void plain_product(int K, const float* A, const float* B, float* C) {
  float sum = 0;
  for (int p = 0; p < K; ++p) sum += A[blockIdx.x * K + p] * B[p * SIDE + threadIdx.x];
  C[blockIdx.x * SIDE + threadIdx.x] = sum;
}

struct Problem {
  int K;
  float *A, *B, *C;  // seen by both sides
  std::vector<double> expected;
};

Problem make_problem(int K) {
  Problem problem{K, nullptr, nullptr, nullptr, std::vector<double>(SIDE * SIDE)};
  cudaMallocManaged(&problem.A, SIDE * K * sizeof(float));
  cudaMallocManaged(&problem.B, SIDE * K * sizeof(float));
  cudaMallocManaged(&problem.C, SIDE * SIDE * sizeof(float));
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (int i = 0; i < SIDE * K; ++i) {
    problem.A[i] = normal(random);
    problem.B[i] = normal(random);
  }
  for (int e = 0; e < SIDE * SIDE; ++e) {
    for (int p = 0; p < K; ++p) {
      problem.expected[e] += static_cast<double>(problem.A[e / SIDE * K + p]) * problem.B[p * SIDE + e % SIDE];
    }
  }
  return problem;
}

void report(const char* name, const Problem& problem) {
  if (cudaDeviceSynchronize() != cudaSuccess) {
    std::printf("%-44s failed: %s\n", name, cudaGetErrorString(cudaGetLastError()));
    return;
  }
  double largest = 0;
  for (int e = 0; e < SIDE * SIDE; ++e) largest = std::fmax(largest, std::fabs(problem.C[e] - problem.expected[e]));
  std::printf("%-44s K = %5d  %.1e\n", name, problem.K, largest / std::sqrt(problem.K));
}

}  // namespace

int main() {
  const dim3 blocks(SIDE / 16, SIDE / 16);
  for (const int K : {128, 1024, 8192}) {
    const Problem p = make_problem(K);
    plain_product<<<SIDE, SIDE>>>(K, p.A, p.B, p.C);
    report("f32, multiply-adds", p);
    split_product<Tf32><<<blocks, 32>>>(K, 0, true, p.A, p.B, p.C);
    report("tf32, one product", p);
    split_product<Tf32><<<blocks, 32>>>(K, 1, true, p.A, p.B, p.C);
    report("tf32 in 2 parts, 3 products", p);
    split_product<Tf32><<<blocks, 32>>>(K, 1, false, p.A, p.B, p.C);
    report("tf32 in 2 parts, 3 products, one long sum", p);
    split_product<Bf16<2>><<<blocks, 32>>>(K, 1, true, p.A, p.B, p.C);
    report("bf16 in 2 parts, 3 products", p);
    split_product<Bf16<3>><<<blocks, 32>>>(K, 2, true, p.A, p.B, p.C);
    report("bf16 in 3 parts, 6 products", p);
    split_product<F16><<<blocks, 32>>>(K, 1, true, p.A, p.B, p.C);
    report("f16 in 2 parts, the second scaled, 3 products", p);
    split_product<F16><<<blocks, 32>>>(K, 1, false, p.A, p.B, p.C);
    report("f16 in 2 parts, 3 products, one long sum", p);
  }
  return 0;
}
