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

// ---- plain products of operands that lie by columns: A [k][m], B [k][n] ----
//
// The same values, and no transposition on the way to shared memory.

template <class T>
__global__ void lay_out_columns(T* y, const T* x, int rows, int k) {
  const std::size_t first = std::size_t{blockIdx.z} * rows * k;
  const int row = blockIdx.x * 32 + threadIdx.x;
  const int p = blockIdx.y;
  y[first + std::size_t(p) * rows + row] = x[first + std::size_t(row) * k + p];
}

template <class T>
T* by_columns(Pool& pool, const T* x, int rows, int k, int batch) {
  T* y = pool.take<T>(std::size_t(batch) * rows * k);
  lay_out_columns<<<dim3(rows / 32, k, batch), 32>>>(y, x, rows, k);
  return y;
}

// Four elements a load; DEPTH rows of WIDE elements, by all threads of the block.
template <class T, int DEPTH, int WIDE, int THREADS>
struct Fetched {
  static constexpr int loads = DEPTH * WIDE / 4 / THREADS;
  Pack<T, 4> pack[loads];

  __device__ __forceinline__ void load(const T* from, int pitch) {
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      const int index = i * THREADS + threadIdx.x;
      pack[i] = *reinterpret_cast<const Pack<T, 4>*>(
          from + std::size_t(index / (WIDE / 4)) * pitch + index % (WIDE / 4) * 4);
    }
  }
  __device__ __forceinline__ void store(float* to) const {
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      reinterpret_cast<float4*>(to)[i * THREADS + threadIdx.x] = {
          to_float(pack[i].v[0]), to_float(pack[i].v[1]), to_float(pack[i].v[2]),
          to_float(pack[i].v[3])};
    }
  }
};

// BM / TM x BN / TN threads with TM x TN sums each; two tiles in turn, one barrier a tile.
template <class T, int BM, int BN, int TM, int TN>
__global__ void __launch_bounds__(BM / TM * (BN / TN), BM == 128 && BN == 128 ? 2 : 1)
    tiled_product(float* c, const T* a, const T* b, int m, int n, int k) {
  constexpr int threads = BM / TM * (BN / TN);
  constexpr int depth = TM * TN == 64 ? 8 : 16;  // as many sums leave few registers
  constexpr int row_step = BM / TM * 4;
  constexpr int column_step = BN / TN * 4;
  __shared__ __align__(16) float left[2][depth * BM];
  __shared__ __align__(16) float right[2][depth * BN];
  const T* a_tile = a + std::size_t{blockIdx.z} * m * k + blockIdx.y * BM;
  const T* b_tile = b + std::size_t{blockIdx.z} * n * k + blockIdx.x * BN;
  const int row = threadIdx.x / (BN / TN) * 4;
  const int column = threadIdx.x % (BN / TN) * 4;
  Fetched<T, depth, BM, threads> a_next;
  Fetched<T, depth, BN, threads> b_next;
  a_next.load(a_tile, m);
  b_next.load(b_tile, n);
  a_next.store(left[0]);
  b_next.store(right[0]);
  __syncthreads();
  float sum[TM][TN] = {};
  const int tiles = k / depth;
#pragma unroll 1
  for (int t = 0; t < tiles; ++t) {
    const bool more = t + 1 < tiles;
    if (more) {
      a_tile += depth * m;
      b_tile += depth * n;
      a_next.load(a_tile, m);
      b_next.load(b_tile, n);
    }
#pragma unroll
    for (int p = 0; p < depth; ++p) {
      float x[TM];
      float y[TN];
#pragma unroll
      for (int i = 0; i < TM; i += 4) {
        *reinterpret_cast<float4*>(x + i) =
            *reinterpret_cast<const float4*>(&left[t % 2][p * BM + i / 4 * row_step + row]);
      }
#pragma unroll
      for (int j = 0; j < TN; j += 4) {
        *reinterpret_cast<float4*>(y + j) =
            *reinterpret_cast<const float4*>(&right[t % 2][p * BN + j / 4 * column_step + column]);
      }
#pragma unroll
      for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] = fmaf(x[i], y[j], sum[i][j]);
      }
    }
    if (more) {
      a_next.store(left[(t + 1) % 2]);
      b_next.store(right[(t + 1) % 2]);
    }
    __syncthreads();
  }
  float* out = c + (std::size_t{blockIdx.z} * m + blockIdx.y * BM) * n + blockIdx.x * BN;
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int r = i / 4 * row_step + row + i % 4;
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      *reinterpret_cast<float4*>(out + std::size_t(r) * n + j / 4 * column_step + column) = {
          sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]};
    }
  }
}

// One sum a thread from tiles of 32 x 32, as in textbooks.
template <class T>
__global__ void __launch_bounds__(1024)
    textbook_product(float* c, const T* a, const T* b, int m, int n, int k) {
  __shared__ float left[32][32];
  __shared__ float right[32][32];
  const int row = blockIdx.y * 32;
  const int column = blockIdx.x * 32;
  float sum = 0;
  for (int p = 0; p < k; p += 32) {
    left[threadIdx.y][threadIdx.x] =
        to_float(a[std::size_t(p + threadIdx.y) * m + row + threadIdx.x]);
    right[threadIdx.y][threadIdx.x] =
        to_float(b[std::size_t(p + threadIdx.y) * n + column + threadIdx.x]);
    __syncthreads();
#pragma unroll
    for (int q = 0; q < 32; ++q) sum = fmaf(left[q][threadIdx.y], right[q][threadIdx.x], sum);
    __syncthreads();
  }
  c[std::size_t(row + threadIdx.y) * n + column + threadIdx.x] = sum;
}

// One sum a thread straight from memory.
template <class T>
__global__ void __launch_bounds__(256)
    naive_product(float* c, const T* a, const T* b, int m, int n, int k) {
  const int row = blockIdx.y * 8 + threadIdx.y;
  const int column = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
#pragma unroll 8
  for (int p = 0; p < k; ++p) {
    sum =
        fmaf(to_float(a[std::size_t(p) * m + row]), to_float(b[std::size_t(p) * n + column]), sum);
  }
  c[std::size_t(row) * n + column] = sum;
}

template <class T, class Launch>
Prepare plain_case(Product size, Launch launch) {
  return [size, launch](Pool& pool) -> Work {
    const Operands<T> o = take_operands<T>(pool, size);
    const T* a = by_columns(pool, o.a, size.m, size.k, size.batch);
    const T* b = by_columns(pool, o.b, size.n, size.k, size.batch);
    return product_work<T>(o, size, [=] { launch(o.c, a, b, size); });
  };
}

template <class T, int BM, int BN, int TM, int TN>
Prepare tiled_case(Product size) {
  return plain_case<T>(size, [](float* c, const T* a, const T* b, const Product& s) {
    tiled_product<T, BM, BN, TM, TN>
        <<<dim3(s.n / BN, s.m / BM, s.batch), BM / TM*(BN / TN)>>>(c, a, b, s.m, s.n, s.k);
  });
}

template <class T>
Prepare textbook_case(Product size) {
  return plain_case<T>(size, [](float* c, const T* a, const T* b, const Product& s) {
    textbook_product<T><<<dim3(s.n / 32, s.m / 32), dim3(32, 32)>>>(c, a, b, s.m, s.n, s.k);
  });
}

template <class T>
Prepare naive_case(Product size) {
  return plain_case<T>(size, [](float* c, const T* a, const T* b, const Product& s) {
    naive_product<T><<<dim3(s.n / 32, s.m / 8), dim3(32, 8)>>>(c, a, b, s.m, s.n, s.k);
  });
}

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

// ---- tempting: a tall matrix times few vectors, bound by reading the matrix ----

// A warp gives ROWS rows; y [row][vector].
template <int ROWS, int VECTORS>
__global__ void __launch_bounds__(256)
    matrix_by_vectors(float* y, const __half* matrix, const __half* vectors) {
  using Eight = Pack<__half, 8>;
  constexpr int row_packs = kColumns / 8;
  const int lane = threadIdx.x % 32;
  const int row = (blockIdx.x * 8 + threadIdx.x / 32) * ROWS;
  const auto* rows = reinterpret_cast<const Eight*>(matrix) + std::size_t(row) * row_packs;
  const auto* factors = reinterpret_cast<const Eight*>(vectors);
  float sum[ROWS][VECTORS] = {};
#pragma unroll(ROWS > 2 ? 2 : 4)
  for (int p = lane; p < row_packs; p += 32) {
    Eight x[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) x[r] = rows[r * row_packs + p];
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      const Eight factor = factors[v * row_packs + p];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          sum[r][v] = fmaf(to_float(x[r].v[j]), to_float(factor.v[j]), sum[r][v]);
        }
      }
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      const float all = warp_sum(sum[r][v]);
      if (lane == r * VECTORS + v) y[(row + r) * VECTORS + v] = all;
    }
  }
}

template <int ROWS, int VECTORS>
Work vectors_case(Pool& pool) {
  const auto* matrix = pool.random<__half>(std::size_t{kRows} * kColumns);
  const auto* vectors = pool.random<__half>(VECTORS * kColumns);
  auto* y = pool.take<float>(kRows * VECTORS);
  return {
      [=] { matrix_by_vectors<ROWS, VECTORS><<<kRows / (8 * ROWS), 256>>>(y, matrix, vectors); },
      output(y, kRows * VECTORS)};
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

// ---- tempting: a stencil of nine rows with coefficients ----

constexpr int kField = 8192;
constexpr int kTaps = 9;
constexpr int kStripe = 32;

// A thread gives four columns of kStripe rows and keeps the last nine rows in registers.
__global__ void __launch_bounds__(256)
    stencil(float4* y, const float4* x, const float* coefficients) {
  constexpr int pitch = kField / 4;
  const int column = blockIdx.x * 256 + threadIdx.x;
  const int row = blockIdx.y * kStripe;
  float factor[kTaps];
#pragma unroll
  for (int t = 0; t < kTaps; ++t) factor[t] = coefficients[t];
  const float4* in = x + row * pitch + column;
  float4* out = y + row * pitch + column;
  float4 rows[kStripe + kTaps - 1];
#pragma unroll
  for (int r = 0; r < kTaps - 1; ++r) rows[r] = in[r * pitch];
#pragma unroll
  for (int r = 0; r < kStripe; ++r) {
    rows[r + kTaps - 1] = in[(r + kTaps - 1) * pitch];
    float4 sum = {};
#pragma unroll
    for (int t = 0; t < kTaps; ++t) {
      sum.x = fmaf(factor[t], rows[r + t].x, sum.x);
      sum.y = fmaf(factor[t], rows[r + t].y, sum.y);
      sum.z = fmaf(factor[t], rows[r + t].z, sum.z);
      sum.w = fmaf(factor[t], rows[r + t].w, sum.w);
    }
    out[r * pitch] = sum;
  }
}

Work stencil_case(Pool& pool) {
  constexpr std::size_t count = std::size_t{kField} * kField;
  const float* x = pool.random<float>(count + std::size_t{kTaps - 1} * kField);
  const float* coefficients = pool.random<float>(kTaps);
  auto* y = pool.take<float>(count);
  return {[=] {
            stencil<<<dim3(kField / 1024, kField / kStripe), 256>>>(
                reinterpret_cast<float4*>(y), reinterpret_cast<const float4*>(x), coefficients);
          },
          output(y, count)};
}

void add_tiled_products(Cases& cases) {
  const std::vector<std::string> plain = {"alu", "l1"};
  const Product flat{1024, 4224, 2048};
  Shape tiles(cases, kTool, "tiles_bf16", "bf16", flat.flops(), flat.bytes(2), {"tensor", "l2"});
  tiles.clean("wgmma", wgmma_case<__nv_bfloat16, Wgmma128>(flat));
  tiles.defect("tile128x64", 0.8, tiled_case<__nv_bfloat16, 128, 64, 8, 4>(flat)).in(plain);
  tiles.defect("tile128x128", 0.7, tiled_case<__nv_bfloat16, 128, 128, 8, 8>(flat)).in(plain);

  // Results are large for their depth: memory limits once the product is fast.
  const std::vector<std::string> streaming = {"dram", "l2", "latency"};
  const Product deep{2048, 2048, 128, 16};
  Shape scores(cases, kTool, "scores128_bf16", "bf16", deep.flops(), deep.bytes(2), streaming);
  scores.clean("mma128x128", mma_case<__nv_bfloat16, Mma128>(deep));
  scores.clean("mma64x64", mma_case<__nv_bfloat16, Mma64>(deep));
  scores.defect("tile128x128", 0.6, tiled_case<__nv_bfloat16, 128, 128, 8, 8>(deep)).in(plain);
  const Product shallow{2048, 2048, 64, 16};
  Shape heads(cases, kTool, "scores64_bf16", "bf16", shallow.flops(), shallow.bytes(2), streaming);
  heads.clean("mma128x128", mma_case<__nv_bfloat16, Mma128>(shallow));
  heads.clean("mma128x64", mma_case<__nv_bfloat16, Mma128x64>(shallow));
  heads.defect("tile128x128", 0.3, tiled_case<__nv_bfloat16, 128, 128, 8, 8>(shallow))
      .in({"alu", "l1", "dram"});

  // What beginners write; its loads and barriers are found as well, and rightly.
  const Product small{1024, 1024, 2048};
  Shape simple(cases, kTool, "simple_f32", "f32", small.flops(), small.bytes(4),
               {"tensor", "l1", "l2", "latency"});
  simple.clean("mma_tf32", mma_case<float, Mma64>(small)).with({"hmma_where_hgmma"});
  simple.defect("textbook", 0.9, textbook_case<float>(small))
      .with({"barrier_stalls", "narrow_loads"})
      .in({"alu", "l1", "latency"});
  simple.defect("naive", 1, naive_case<float>(small))
      .with({"narrow_loads", "excess_traffic", "long_scoreboard"})
      .in({"alu", "l1", "l2", "latency"});
}

}  // namespace

void add_tensor_cores_unused(Cases& cases) {
  const std::vector<std::string> hmma = {"hmma_where_hgmma"};
  const std::vector<std::string> slow = {"alu", "l1", "latency"};
  // Tiles of 128 x 128 read L2 at nine tenths of what it can, as they keep tensor cores busy.
  const std::vector<std::string> groups = {"tensor", "l2"};
  // Warp-wide instructions keep them less busy, and wait between their tiles.
  const std::vector<std::string> warps = {"tensor", "l1", "l2", "latency"};

  const Product square{2048, 2048, 4096};
  Shape half(cases, kTool, "square_f16", "f16", square.flops(), square.bytes(2), groups);
  half.clean("wgmma", wgmma_case<__half, Wgmma128>(square));
  half.clean("mma", mma_case<__half, Mma128>(square)).with(hmma).in(warps);
  half.defect("fma8x8", 0.8, fma_case<__half, 8>(square)).in(slow);
  half.defect("fma4x4", 1, fma_case<__half, 4>(square)).in(slow);

  const Product wide{1024, 4096, 4096};
  Shape bfloat(cases, kTool, "wide_bf16", "bf16", wide.flops(), wide.bytes(2), groups);
  bfloat.clean("wgmma", wgmma_case<__nv_bfloat16, Wgmma128>(wide));
  bfloat.clean("mma", mma_case<__nv_bfloat16, Mma128>(wide)).with(hmma).in(warps);
  bfloat.defect("fma8x8", 0.8, fma_case<__nv_bfloat16, 8>(wide)).in(slow);
  bfloat.defect("fma4x4", 1, fma_case<__nv_bfloat16, 4>(wide)).in(slow);

  const Product single{2048, 2048, 2048};
  Shape full(cases, kTool, "product_f32", "f32", single.flops(), single.bytes(4), groups);
  full.clean("wgmma_tf32", wgmma_case<float, Wgmma128>(single));
  full.clean("mma_tf32", mma_case<float, Mma128>(single)).with(hmma).in(warps);
  full.defect("fma8x8", 0.6, fma_case<float, 8>(single)).in(slow);
  full.defect("fma4x4", 0.8, fma_case<float, 4>(single)).in(slow);

  const Product small{64, 64, 512, 1320};
  const std::vector<std::string> mixed = {"dram", "l2", "tensor", "latency"};
  Shape batch(cases, kTool, "small_batch_f16", "f16", small.flops(), small.bytes(2), mixed);
  batch.clean("mma", mma_case<__half, Mma64>(small));
  batch.clean("mma_stages3", mma_case<__half, MmaTile<64, 64, 2, 2, 64, 16, 3>>(small));
  batch.defect("fma4x4", 0.5, fma_case<__half, 4>(small)).in(slow);

  const Product deep{128, 128, 2048, 132};
  Shape heads(cases, kTool, "deep_batch_bf16", "bf16", deep.flops(), deep.bytes(2), mixed);
  heads.clean("mma128x64", mma_case<__nv_bfloat16, Mma128x64>(deep));
  heads.clean("mma64x64", mma_case<__nv_bfloat16, Mma64>(deep));
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
  Shape skinny(cases, kTool, "skinny_f16", "f16", 8.0 * kRows * kColumns, 2.0 * kRows * kColumns,
               {"dram"});
  skinny.tempting("vectors4", vectors_case<4, 4>);
  Shape field(cases, kTool, "stencil_f32", "f32", 2.0 * kTaps * kField * kField,
              8.0 * kField * kField, {"dram"});
  field.tempting("rows9", stencil_case);
  add_tiled_products(cases);
}

}  // namespace defects
