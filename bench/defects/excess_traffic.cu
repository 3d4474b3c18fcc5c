// Traffic above the minimum: the same bytes cross the memory bus more often than needed.
#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "excess_traffic";

// ---- four power sums of each row, in one pass or several ----

// All rows together are on the way at once, so a second pass finds nothing of the first in L2.
template <int POWERS>
__device__ void add_powers(float (&sum)[4], int first, float x) {
  float power = first == 0 ? x : first == 1 ? x * x : first == 2 ? x * x * x : (x * x) * (x * x);
#pragma unroll
  for (int p = 0; p < POWERS; ++p) {
    sum[p] += power;
    power *= x;
  }
}

template <int PASSES, int THREADS>
__global__ void power_sums(float* y, const float4* x, int columns) {
  constexpr int powers = 4 / PASSES;
  const float4* row = x + static_cast<std::size_t>(blockIdx.x) * columns;
#pragma unroll
  for (int pass = 0; pass < PASSES; ++pass) {
    float sum[4] = {};
#pragma unroll 4
    for (int i = threadIdx.x; i < columns; i += THREADS) {
      const float4 word = row[i];
      add_powers<powers>(sum, pass * powers, word.x);
      add_powers<powers>(sum, pass * powers, word.y);
      add_powers<powers>(sum, pass * powers, word.z);
      add_powers<powers>(sum, pass * powers, word.w);
    }
#pragma unroll
    for (int p = 0; p < powers; ++p) {
      const float total = block_sum(sum[p]);
      if (threadIdx.x == 0) y[blockIdx.x * 4 + pass * powers + p] = total;
      __syncthreads();
    }
  }
}

template <int PASSES, int THREADS>
Prepare power_sums_case(int rows, int columns) {
  return [rows, columns](Pool& pool) -> Work {
    auto* x = pool.random<float>(static_cast<std::size_t>(rows) * columns);
    auto* y = pool.take<float>(rows * 4);
    return {[=] {
              power_sums<PASSES, THREADS>
                  <<<rows, THREADS>>>(y, reinterpret_cast<const float4*>(x), columns / 4);
            },
            output(y, rows * 4, 1e-4)};
  };
}

// ---- the sum of four arrays, kept in registers or in memory ----

constexpr std::uint32_t kTerms = 1u << 25;

__device__ int4 added(int4 a, int4 b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

template <int TERMS>
__global__ void add_arrays(int4* y, const int4* x, int blocks_of_work) {
  constexpr std::uint32_t count = kTerms / 4;
#pragma unroll 1
  for (int first = 0; first < 4; first += TERMS) {
    for (int work = blockIdx.x; work < blocks_of_work; work += gridDim.x) {
      const std::uint32_t i = work * 256 + threadIdx.x;
      int4 value[TERMS];
#pragma unroll
      for (int t = 0; t < TERMS; ++t) value[t] = x[(first + t) * count + i];
      int4 sum = first == 0 ? int4{0, 0, 0, 0} : y[i];
#pragma unroll
      for (int t = 0; t < TERMS; ++t) sum = added(sum, value[t]);
      y[i] = sum;
    }
  }
}

template <int TERMS>
Prepare add_arrays_case(int blocks) {
  return [blocks](Pool& pool) -> Work {
    auto* x = pool.random<std::int32_t>(std::size_t{4} * kTerms);
    auto* y = pool.take<std::int32_t>(kTerms);
    return {[=] {
              add_arrays<TERMS><<<blocks, 256>>>(reinterpret_cast<int4*>(y),
                                                 reinterpret_cast<const int4*>(x), kTerms / 1024);
            },
            output(y, kTerms, 0)};
  };
}

// ---- a stencil across planes that do not fit in L2 ----

constexpr std::uint32_t kPlane = 4096u * 4096u;
constexpr int kPlanes = 8;

__device__ float4 blended(float4 below, float4 here, float4 above) {
  return {0.5f * here.x + 0.25f * (below.x + above.x), 0.5f * here.y + 0.25f * (below.y + above.y),
          0.5f * here.z + 0.25f * (below.z + above.z), 0.5f * here.w + 0.25f * (below.w + above.w)};
}

// A thread takes MARCH planes in a row and carries its neighbors in registers.
template <int MARCH>
__global__ void stencil_planes(float4* y, const float4* x) {
  constexpr std::uint32_t count = kPlane / 4;
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const int first = blockIdx.y * MARCH;
  float4 value[MARCH + 2];
#pragma unroll
  for (int z = 0; z < MARCH + 2; ++z) {
    const int plane = min(max(first + z - 1, 0), kPlanes - 1);
    value[z] = x[plane * count + i];
  }
#pragma unroll
  for (int z = 0; z < MARCH; ++z) {
    y[(first + z) * count + i] = blended(value[z], value[z + 1], value[z + 2]);
  }
}

template <int MARCH>
Prepare stencil_case(int threads) {
  return [threads](Pool& pool) -> Work {
    auto* x = pool.random<float>(std::size_t{kPlane} * kPlanes);
    auto* y = pool.take<float>(std::size_t{kPlane} * kPlanes);
    const dim3 grid(kPlane / 4 / threads, kPlanes / MARCH);
    return {[=] {
              stencil_planes<MARCH><<<grid, threads>>>(reinterpret_cast<float4*>(y),
                                                       reinterpret_cast<const float4*>(x));
            },
            output(y, std::size_t{kPlane} * kPlanes)};
  };
}

// ---- four vectors times one matrix, the matrix read once or again for each ----

constexpr int kMatrixRows = 8192;
constexpr int kMatrixColumns = 16384;
constexpr int kChunk = 128;  // rows of a block

template <int VECTORS, int UNROLL>
__global__ void __launch_bounds__(256, 4)
    vectors_times_matrix(float* y, const __half* matrix, const float* vectors) {
  using Word = Pack<__half, 8>;
  const int column = (blockIdx.x * 256 + threadIdx.x) * 8;
  const int row0 = blockIdx.y * kChunk;
#pragma unroll 1
  for (int first = 0; first < 4; first += VECTORS) {
    float sum[VECTORS][8] = {};
#pragma unroll UNROLL
    for (int r = 0; r < kChunk; ++r) {
      const Word word = *reinterpret_cast<const Word*>(
          matrix + static_cast<std::size_t>(row0 + r) * kMatrixColumns + column);
      const auto factor =
          *reinterpret_cast<const Pack<float, VECTORS>*>(vectors + (row0 + r) * 4 + first);
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float value = to_float(word.v[j]);
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) sum[v][j] = fmaf(value, factor.v[v], sum[v][j]);
      }
    }
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      float* place =
          y + (static_cast<std::size_t>(blockIdx.y) * 4 + first + v) * kMatrixColumns + column;
      *reinterpret_cast<float4*>(place) = {sum[v][0], sum[v][1], sum[v][2], sum[v][3]};
      *reinterpret_cast<float4*>(place + 4) = {sum[v][4], sum[v][5], sum[v][6], sum[v][7]};
    }
  }
}

template <int VECTORS, int UNROLL>
Work vectors_case(Pool& pool) {
  auto* matrix = pool.random<__half>(std::size_t{kMatrixRows} * kMatrixColumns);
  auto* vectors = pool.random<float>(4 * kMatrixRows);
  constexpr std::size_t count = std::size_t{kMatrixRows} / kChunk * 4 * kMatrixColumns;
  auto* y = pool.take<float>(count);
  const dim3 grid(kMatrixColumns / 2048, kMatrixRows / kChunk);
  return {[=] { vectors_times_matrix<VECTORS, UNROLL><<<grid, 256>>>(y, matrix, vectors); },
          output(y, count)};
}

// ---- tempting: neighbors read five times, but from L1 ----

constexpr std::uint32_t kLine = 1u << 26;

__global__ void stencil_line(float* y, const float* x) {
  const std::uint32_t base = blockIdx.x * 1024 + threadIdx.x;
  float value[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const std::uint32_t i = base + k * 256;
    float sum = 0;
#pragma unroll
    for (int d = -2; d <= 2; ++d) sum += x[(i + d) % kLine];
    value[k] = sum * 0.2f;
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) y[base + k * 256] = value[k];
}

Work stencil_line_case(Pool& pool) {
  auto* x = pool.random<float>(kLine);
  auto* y = pool.take<float>(kLine);
  return {[=] { stencil_line<<<kLine / 1024, 256>>>(y, x); }, output(y, kLine)};
}

}  // namespace

void add_excess_traffic(Cases& cases) {
  constexpr int rows = 8 * kMultiprocessors;
  constexpr int columns = 65536;
  Shape powers(cases, kTool, "power_sums_f32", "f32", 8.0 * rows * columns, 4.0 * rows * columns,
               {"dram"});
  powers.clean("passes1", power_sums_case<1, 256>(rows, columns));
  powers.clean("passes1_threads128", power_sums_case<1, 128>(rows, columns));
  powers.defect("passes2", 0.5, power_sums_case<2, 256>(rows, columns));
  powers.defect("passes4", 1, power_sums_case<4, 256>(rows, columns));

  Shape arrays(cases, kTool, "add_arrays_i32", "i32", 3.0 * kTerms, 20.0 * kTerms, {"dram"});
  arrays.clean("passes1", add_arrays_case<4>(8 * kMultiprocessors));
  arrays.clean("passes1_many_blocks", add_arrays_case<4>(kTerms / 1024));
  arrays.defect("passes2", 0.4, add_arrays_case<2>(8 * kMultiprocessors));
  arrays.defect("passes4", 1, add_arrays_case<1>(8 * kMultiprocessors));

  Shape planes(cases, kTool, "planes_f32", "f32", 4.0 * kPlane * kPlanes, 8.0 * kPlane * kPlanes,
               {"dram"});
  planes.clean("march8", stencil_case<8>(256));
  planes.clean("march8_threads128", stencil_case<8>(128));
  planes.defect("march2", 0.5, stencil_case<2>(256));
  planes.defect("march1", 1, stencil_case<1>(256));

  Shape vectors(cases, kTool, "vectors_matrix_f16", "f16", 8.0 * kMatrixRows * kMatrixColumns,
                2.0 * kMatrixRows * kMatrixColumns, {"dram"});
  vectors.clean("vectors4", vectors_case<4, 4>);
  vectors.clean("vectors4_unroll8", vectors_case<4, 8>);
  vectors.defect("vectors2", 0.5, vectors_case<2, 8>);
  vectors.defect("vectors1", 1, vectors_case<1, 8>);

  constexpr int short_rows = 16384;
  constexpr int short_columns = 4096;
  Shape cached(cases, kTool, "cached_sums_f32", "f32", 8.0 * short_rows * short_columns,
               4.0 * short_rows * short_columns, {"dram"});
  cached.clean("passes1", power_sums_case<1, 256>(short_rows, short_columns));
  cached.tempting("passes2", power_sums_case<2, 256>(short_rows, short_columns));

  Shape line(cases, kTool, "line_f32", "f32", 5.0 * kLine, 8.0 * kLine, {"dram"});
  line.tempting("radius2", stencil_line_case);
}

}  // namespace defects
