// Tensor cores unused where there is a matrix product: multiply-adds one by one instead.
//
// Sums are in f32 everywhere. Of f32 operands the tensor cores keep TF32's ten bits, so there the
// clean twin is a choice of precision, not only of instructions.
#include "gemm.cuh"
#include "wgmma.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "tensor_cores_unused";

using Mma128x64 = MmaTile<128, 64, 4, 2, 64, 16, 4>;

// ---- tempting: one vector times a matrix, bound by reading it ----

constexpr int kRows = 16384;
constexpr int kColumns = 8192;

__global__ void __launch_bounds__(256)
    matrix_vector(float* y, const Pack<__half, 8>* matrix, const Pack<__half, 8>* vector) {
  const auto* row = matrix + static_cast<std::size_t>(blockIdx.x) * (kColumns / 8);
  float sum = 0;
#pragma unroll
  for (int i = threadIdx.x; i < kColumns / 8; i += 256) {
    const Pack<__half, 8> a = row[i];
    const Pack<__half, 8> b = vector[i];
#pragma unroll
    for (int j = 0; j < 8; ++j) sum = fmaf(to_float(a.v[j]), to_float(b.v[j]), sum);
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

Work matrix_vector_case(Pool& pool) {
  auto* matrix = pool.random<__half>(std::size_t{kRows} * kColumns);
  auto* vector = pool.random<__half>(kColumns);
  auto* y = pool.take<float>(kRows);
  return {[=] {
            matrix_vector<<<kRows, 256>>>(y, reinterpret_cast<const Pack<__half, 8>*>(matrix),
                                          reinterpret_cast<const Pack<__half, 8>*>(vector));
          },
          output(y, kRows, 1e-4)};
}

// ---- tempting: much fused multiply-add, but no product of matrices ----

constexpr std::uint32_t kPoints = kMultiprocessors * 2048 * 4;
constexpr int kDegree = 16;
constexpr int kRepeats = 128;

__global__ void __launch_bounds__(256) polynomials(float* y, const float* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  float value = x[i];
#pragma unroll 1
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    float low = 0.01f;
    float high = 0.02f;
#pragma unroll
    for (int d = 0; d < kDegree; ++d) {
      low = fmaf(low, value, 0.03f * (d + 1));
      high = fmaf(high, value, 0.02f * (kDegree - d));
    }
    value = 0.25f * value + 0.01f * (low - high);
  }
  y[i] = value;
}

Work polynomials_case(Pool& pool) {
  auto* x = pool.random<float>(kPoints);
  auto* y = pool.take<float>(kPoints);
  return {[=] { polynomials<<<kPoints / 256, 256>>>(y, x); }, output(y, kPoints)};
}

// ---- tempting: forces between bodies ----

constexpr int kBodies = kMultiprocessors * 256;
constexpr int kOthers = 4096;

// Each body feels the first kOthers of them, tile by tile.
__global__ void __launch_bounds__(256) forces(float4* y, const float4* body) {
  __shared__ float4 tile[256];
  const float4 own = body[(blockIdx.x / 8) * 256 + threadIdx.x];
  float4 force = {0, 0, 0, 0};
  const int begin = blockIdx.x % 8 * (kOthers / 8);
  for (int t = begin; t < begin + kOthers / 8; t += 256) {
    tile[threadIdx.x] = body[t + threadIdx.x];
    __syncthreads();
#pragma unroll 16
    for (int j = 0; j < 256; ++j) {
      const float4 other = tile[j];
      const float dx = other.x - own.x;
      const float dy = other.y - own.y;
      const float dz = other.z - own.z;
      const float square = dx * dx + dy * dy + dz * dz + 0.01f;
      const float inverse = rsqrtf(square);
      const float scale = other.w * inverse * inverse * inverse;
      force.x = fmaf(dx, scale, force.x);
      force.y = fmaf(dy, scale, force.y);
      force.z = fmaf(dz, scale, force.z);
    }
    __syncthreads();
  }
  y[blockIdx.x * 256 + threadIdx.x] = force;
}

Work forces_case(Pool& pool) {
  auto* body = pool.random<float>(kBodies * 4);
  auto* y = pool.take<float>(kBodies * 4 * 8);
  return {[=] {
            forces<<<kBodies / 256 * 8, 256>>>(reinterpret_cast<float4*>(y),
                                               reinterpret_cast<const float4*>(body));
          },
          output(y, kBodies * 4 * 8)};
}

}  // namespace

void add_tensor_cores_unused(Cases& cases) {
  const std::vector<std::string> hmma = {"hmma_where_hgmma"};
  const std::vector<std::string> slow = {"alu", "l1", "latency"};

  const Product square{2048, 2048, 2048};
  Shape half(cases, kTool, "square_f16", "f16", square.flops(), square.bytes(2), {"tensor"});
  half.clean("wgmma", wgmma_case<__half, Wgmma128>(square));
  half.clean("mma", mma_case<__half, Mma128>(square)).with(hmma).in({"tensor", "l1"});
  half.defect("fma8x8", 0.8, fma_case<__half, 8>(square)).in(slow);
  half.defect("fma4x4", 1, fma_case<__half, 4>(square)).in(slow);

  const Product wide{1024, 4096, 2048};
  Shape bfloat(cases, kTool, "wide_bf16", "bf16", wide.flops(), wide.bytes(2), {"tensor"});
  bfloat.clean("wgmma", wgmma_case<__nv_bfloat16, Wgmma128>(wide));
  bfloat.clean("mma", mma_case<__nv_bfloat16, Mma128>(wide)).with(hmma).in({"tensor", "l1"});
  bfloat.defect("fma8x8", 0.8, fma_case<__nv_bfloat16, 8>(wide)).in(slow);
  bfloat.defect("fma4x4", 1, fma_case<__nv_bfloat16, 4>(wide)).in(slow);

  const Product single{2048, 2048, 1024};
  Shape full(cases, kTool, "product_f32", "f32", single.flops(), single.bytes(4), {"tensor"});
  full.clean("wgmma_tf32", wgmma_case<float, Wgmma128>(single));
  full.clean("mma_tf32", mma_case<float, Mma128>(single)).with(hmma).in({"tensor", "l1"});
  full.defect("fma8x8", 0.6, fma_case<float, 8>(single)).in(slow);
  full.defect("fma4x4", 0.8, fma_case<float, 4>(single)).in(slow);

  const Product small{64, 64, 512, 1056};
  const std::vector<std::string> mixed = {"dram", "l2", "tensor", "latency"};
  Shape batch(cases, kTool, "small_batch_f16", "f16", small.flops(), small.bytes(2), mixed);
  batch.clean("mma", mma_case<__half, Mma64>(small));
  batch.clean("mma_stages3", mma_case<__half, MmaTile<64, 64, 2, 2, 128, 16, 3>>(small));
  batch.defect("fma4x4", 0.5, fma_case<__half, 4>(small)).in(slow);

  const Product deep{128, 128, 2048, 132};
  Shape heads(cases, kTool, "deep_batch_bf16", "bf16", deep.flops(), deep.bytes(2), mixed);
  heads.clean("mma", mma_case<__nv_bfloat16, Mma128x64>(deep));
  heads.defect("fma4x4", 0.7, fma_case<__nv_bfloat16, 4>(deep)).in(slow);

  Shape vector(cases, kTool, "matrix_vector_f16", "f16", 2.0 * kRows * kColumns,
               2.0 * kRows * kColumns, {"dram"});
  vector.tempting("fma", matrix_vector_case);
  Shape poly(cases, kTool, "polynomials_f32", "f32", 4.0 * kDegree * kRepeats * kPoints,
             8.0 * kPoints, {"alu"});
  poly.tempting("fma", polynomials_case);
  Shape bodies(cases, kTool, "forces_f32", "f32", 20.0 * kBodies * kOthers, 32.0 * kBodies,
               {"alu"});
  bodies.tempting("fma", forces_case);
}

}  // namespace defects
