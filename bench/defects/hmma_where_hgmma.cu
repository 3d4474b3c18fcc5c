// HMMA where HGMMA is to be had: matrix products by mma.sync, which reaches about two thirds of
// what the tensor cores of an H200 give by wgmma.
#include "gemm.cuh"
#include "wgmma.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "hmma_where_hgmma";

// ---- tempting: few rows against a large matrix, bound by reading that matrix once ----

constexpr int kFewRows = 16;
constexpr int kLongK = 8192;
constexpr int kWideN = 16384;

// A block gives 16 x 32 outputs; each of its 8 warps takes an eighth of k. Which 16 values of k
// meet in one step is the same for both operands, so each lane may take 16 bytes side by side.
template <class T>
__global__ void __launch_bounds__(256) few_rows(float* c, const T* a, const T* b) {
  __shared__ float part[8][kFewRows * 32];
  constexpr int eighth = kLongK / 8;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int first = warp * eighth + lane % 4 * 8;
  const T* a_low = a + lane / 4 * kLongK + first;
  const T* b_rows = b + (static_cast<std::size_t>(blockIdx.x) * 32 + lane / 4) * kLongK + first;
  float sum[4][4] = {};
#pragma unroll 4
  for (int k = 0; k < eighth; k += 32) {
    const uint4 low = *reinterpret_cast<const uint4*>(a_low + k);
    const uint4 high = *reinterpret_cast<const uint4*>(a_low + 8 * kLongK + k);
    const unsigned even[4] = {low.x, high.x, low.y, high.y};
    const unsigned odd[4] = {low.z, high.z, low.w, high.w};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const uint4 right = *reinterpret_cast<const uint4*>(b_rows + j * 8 * kLongK + k);
      multiply_step(sum[j], even, right.x, right.y, T{});
      multiply_step(sum[j], odd, right.z, right.w, T{});
    }
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 4 + i / 2 * 8;
      part[warp][row * 32 + j * 8 + lane % 4 * 2 + i % 2] = sum[j][i];
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kFewRows * 32; i += 256) {
    float total = 0;
#pragma unroll
    for (int w = 0; w < 8; ++w) total += part[w][i];
    c[static_cast<std::size_t>(i / 32) * kWideN + blockIdx.x * 32 + i % 32] = total;
  }
}

template <class T>
Work few_rows_case(Pool& pool) {
  const Product size{kFewRows, kWideN, kLongK};
  const Operands<T> o = take_operands<T>(pool, size);
  return product_work<T>(o, size, [=] { few_rows<T><<<kWideN / 32, 256>>>(o.c, o.a, o.b); });
}

template <class T>
void add_product(Cases& cases, const std::string& name, const std::string& type, Product size) {
  Shape shape(cases, kTool, name, type, size.flops(), size.bytes(sizeof(T)), {"tensor"});
  shape.clean("wgmma256", wgmma_case<T, Wgmma256>(size));
  shape.clean("wgmma128", wgmma_case<T, Wgmma128>(size));
  shape.defect("mma128", 0.4, mma_case<T, Mma128>(size)).in({"tensor", "l1"});
  shape.defect("mma64", 0.8, mma_case<T, Mma64>(size)).in({"tensor", "l1"});
}

}  // namespace

void add_hmma_where_hgmma(Cases& cases) {
  add_product<__half>(cases, "square_f16", "f16", {4096, 4096, 4096});
  add_product<__nv_bfloat16>(cases, "tall_bf16", "bf16", {8192, 2048, 4096});
  add_product<float>(cases, "product_tf32", "tf32", {4096, 2048, 2048});
  add_product<__half>(cases, "batched_f16", "f16", {2048, 1024, 1024, 8});

  const Product few{kFewRows, kWideN, kLongK};
  Shape half(cases, kTool, "few_rows_f16", "f16", few.flops(), few.bytes(2), {"dram"});
  half.tempting("mma", few_rows_case<__half>);
  Shape bfloat(cases, kTool, "few_rows_bf16", "bf16", few.flops(), few.bytes(2), {"dram"});
  bfloat.tempting("mma", few_rows_case<__nv_bfloat16>);
  const Product outer{8192, 8192, 64};
  Shape thin(cases, kTool, "outer_f16", "f16", outer.flops(), outer.bytes(2), {"dram"});
  thin.clean("wgmma128", wgmma_case<__half, Wgmma128>(outer));
  thin.tempting("mma128", mma_case<__half, Mma128>(outer));
}

}  // namespace defects
