// Matrix products by multiply-adds of single threads, against mma.sync at the same size.
//
// The plain products read their operands by columns of k, laid out before: the same values, and no
// transposition on the way to shared memory. f32 operands may be rounded to TF32.
#include "gemm.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "tensor_cores_unused";

// ---- plain products: A [k][m], B [k][n] ----

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

// ---- tempting: a tall matrix times few vectors, bound by reading the matrix ----

constexpr int kTallRows = 16384;
constexpr int kTallColumns = 8192;

// A warp gives ROWS rows; y [row][vector].
template <int ROWS, int VECTORS>
__global__ void __launch_bounds__(256)
    matrix_by_vectors(float* y, const __half* matrix, const __half* vectors) {
  using Eight = Pack<__half, 8>;
  constexpr int row_packs = kTallColumns / 8;
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
  const auto* matrix = pool.random<__half>(std::size_t{kTallRows} * kTallColumns);
  const auto* vectors = pool.random<__half>(VECTORS * kTallColumns);
  auto* y = pool.take<float>(kTallRows * VECTORS);
  return {[=] {
            matrix_by_vectors<ROWS, VECTORS><<<kTallRows / (8 * ROWS), 256>>>(y, matrix, vectors);
          },
          output(y, kTallRows * VECTORS)};
}

// ---- tempting: polynomials, all multiply-adds and no product of matrices ----

constexpr int kValues = 1 << 23;
constexpr int kRounds = 16;
constexpr int kDegree = 32;

__global__ void __launch_bounds__(256) polynomials(float4* y, const float4* x) {
  const int i = blockIdx.x * 512 + threadIdx.x;
  float4 in[2] = {x[i], x[i + 256]};
  float value[8] = {in[0].x, in[0].y, in[0].z, in[0].w, in[1].x, in[1].y, in[1].z, in[1].w};
#pragma unroll 1
  for (int round = 0; round < kRounds; ++round) {
    float sum[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) sum[j] = 0.5f;
#pragma unroll
    for (int d = 1; d <= kDegree; ++d) {
#pragma unroll
      for (int j = 0; j < 8; ++j) sum[j] = fmaf(sum[j], value[j], (d % 2 == 0 ? 0.3f : -0.4f) / d);
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) value[j] = sum[j];
  }
  y[i] = {value[0], value[1], value[2], value[3]};
  y[i + 256] = {value[4], value[5], value[6], value[7]};
}

Work polynomials_case(Pool& pool) {
  const float* x = pool.random<float>(kValues);
  auto* y = pool.take<float>(kValues);
  return {[=] {
            polynomials<<<kValues / 2048, 256>>>(reinterpret_cast<float4*>(y),
                                                 reinterpret_cast<const float4*>(x));
          },
          output(y, kValues)};
}

// ---- tempting: forces between all pairs of bodies ----

constexpr int kSlices = 8;
constexpr int kBodies = kMultiprocessors * 256;
static_assert(kBodies % (kSlices * 32) == 0);

// Forces by one slice of the bodies; tiles of 132 bodies in shared memory.
__global__ void __launch_bounds__(256) forces(float4* y, const float4* bodies) {
  __shared__ float4 tile[kMultiprocessors];
  const int i = blockIdx.x * 256 + threadIdx.x;
  const float4 self = bodies[i];
  float fx = 0;
  float fy = 0;
  float fz = 0;
  constexpr int slice = kBodies / kSlices;
  const int first = blockIdx.y * slice;
  for (int at = first; at < first + slice; at += kMultiprocessors) {
    __syncthreads();
    if (threadIdx.x < kMultiprocessors) tile[threadIdx.x] = bodies[at + threadIdx.x];
    __syncthreads();
#pragma unroll 12
    for (int j = 0; j < kMultiprocessors; ++j) {
      const float4 other = tile[j];
      const float dx = other.x - self.x;
      const float dy = other.y - self.y;
      const float dz = other.z - self.z;
      const float inverse = rsqrtf(fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, 0.01f))));
      const float weight = other.w * inverse * inverse * inverse;
      fx = fmaf(dx, weight, fx);
      fy = fmaf(dy, weight, fy);
      fz = fmaf(dz, weight, fz);
    }
  }
  y[std::size_t{blockIdx.y} * kBodies + i] = {fx, fy, fz, 0};
}

Work forces_case(Pool& pool) {
  const float* bodies = pool.random<float>(4 * kBodies);
  auto* y = pool.take<float>(4 * kBodies * kSlices);
  return {[=] {
            forces<<<dim3(kBodies / 256, kSlices), 256>>>(reinterpret_cast<float4*>(y),
                                                          reinterpret_cast<const float4*>(bodies));
          },
          output(y, 4 * kBodies * kSlices)};
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

using Mma128x64 = MmaTile<128, 64, 4, 2, 64, 16, 6>;

const std::vector<std::string> kByWarps = {"hmma_where_hgmma"};
const std::vector<std::string> kPlain = {"alu", "l1"};
const std::vector<std::string> kMatrix = {"tensor", "l1", "l2", "latency"};

Shape product_shape(Cases& cases, const char* name, const char* type, const Product& size,
                    int element, std::vector<std::string> classes) {
  return {cases, kTool, name, type, size.flops(), size.bytes(element), std::move(classes)};
}

void add_products(Cases& cases) {
  const Product square{2048, 2048, 4096};
  Shape half = product_shape(cases, "product_f16", "f16", square, 2, kMatrix);
  half.clean("mma_128x128", mma_case<__half, Mma128>(square)).with(kByWarps);
  half.clean("mma_64x64", mma_case<__half, Mma64>(square)).with(kByWarps);
  half.defect("tile_128x128", 0.7, tiled_case<__half, 128, 128, 8, 8>(square)).in(kPlain);
  half.defect("tile_64x64", 1, tiled_case<__half, 64, 64, 4, 4>(square)).in(kPlain);

  const Product flat{1024, 4224, 2048};
  Shape brain = product_shape(cases, "product_bf16", "bf16", flat, 2, kMatrix);
  brain.clean("mma_128x128", mma_case<__nv_bfloat16, Mma128>(flat)).with(kByWarps);
  brain.clean("mma_128x64", mma_case<__nv_bfloat16, Mma128x64>(flat)).with(kByWarps);
  brain.defect("tile_128x64", 0.8, tiled_case<__nv_bfloat16, 128, 64, 8, 4>(flat)).in(kPlain);
  brain.defect("tile_64x64", 1, tiled_case<__nv_bfloat16, 64, 64, 4, 4>(flat)).in(kPlain);

  const Product deep{2048, 2048, 2048};
  Shape single = product_shape(cases, "product_tf32", "tf32", deep, 4, kMatrix);
  single.clean("mma_128x128", mma_case<float, Mma128>(deep)).with(kByWarps);
  single.clean("mma_128x64", mma_case<float, Mma128x64>(deep)).with(kByWarps);
  single.defect("tile_128x128", 0.5, tiled_case<float, 128, 128, 8, 8>(deep)).in(kPlain);
  single.defect("tile_128x64", 0.6, tiled_case<float, 128, 64, 8, 4>(deep)).in(kPlain);

  // What beginners write; its loads and barriers are found as well, and rightly.
  const Product small{1024, 1024, 2048};
  Shape simple = product_shape(cases, "simple_tf32", "tf32", small, 4, kMatrix);
  simple.clean("mma_64x64", mma_case<float, Mma64>(small)).with(kByWarps);
  simple.clean("mma_128x64", mma_case<float, Mma128x64>(small))
      .with({"hmma_where_hgmma", "block_shortage"})
      .in({"tensor", "l1", "l2", "latency", "tail"});
  simple.defect("textbook", 0.9, textbook_case<float>(small))
      .with({"barrier_stalls", "narrow_loads"})
      .in({"alu", "l1", "latency"});
  simple.defect("naive", 1, naive_case<float>(small))
      .with({"narrow_loads", "excess_traffic", "long_scoreboard"})
      .in({"alu", "l1", "l2", "latency"});
}

// Their results are large for their depth: memory limits once the product is fast.
void add_shallow_products(Cases& cases) {
  const std::vector<std::string> streaming = {"dram", "latency", "l2"};
  const Product many{64, 64, 256, 3960};
  Shape batch = product_shape(cases, "batch_f16", "f16", many, 2, streaming);
  batch.clean("mma_64x64", mma_case<__half, Mma64>(many));
  batch.clean("mma_64x64_8warps", mma_case<__half, MmaTile<64, 64, 2, 4, 64, 16, 4>>(many));
  batch.defect("tile_64x64", 0.4, tiled_case<__half, 64, 64, 4, 4>(many)).in(kPlain);
  batch.defect("tile_64x64_8x4", 0.4, tiled_case<__half, 64, 64, 8, 4>(many)).in(kPlain);

  const Product scores{2048, 2048, 128, 16};
  Shape attention = product_shape(cases, "scores_128_bf16", "bf16", scores, 2, streaming);
  attention.clean("mma_128x128", mma_case<__nv_bfloat16, Mma128>(scores));
  attention.clean("mma_64x64", mma_case<__nv_bfloat16, Mma64>(scores));
  attention.defect("tile_128x128", 0.6, tiled_case<__nv_bfloat16, 128, 128, 8, 8>(scores))
      .in(kPlain);
  attention.defect("tile_64x64", 0.8, tiled_case<__nv_bfloat16, 64, 64, 4, 4>(scores)).in(kPlain);

  const Product narrow{2048, 2048, 64, 16};
  Shape heads = product_shape(cases, "scores_64_f16", "f16", narrow, 2, streaming);
  heads.clean("mma_128x128", mma_case<__half, Mma128>(narrow));
  heads.clean("mma_128x64", mma_case<__half, Mma128x64>(narrow));
  heads.defect("tile_128x128", 0.3, tiled_case<__half, 128, 128, 8, 8>(narrow))
      .in({"alu", "l1", "dram"});
  heads.defect("tile_128x64", 0.4, tiled_case<__half, 128, 64, 8, 4>(narrow))
      .in({"alu", "l1", "dram"});
}

}  // namespace

void add_tensor_cores_unused(Cases& cases) {
  add_products(cases);
  add_shallow_products(cases);

  const double matrix = 2.0 * kTallRows * kTallColumns;
  Shape vector(cases, kTool, "vector_f16", "f16", matrix, matrix, {"dram"});
  vector.tempting("rows2", vectors_case<2, 1>);
  vector.tempting("rows4", vectors_case<4, 1>);
  Shape skinny(cases, kTool, "skinny_f16", "f16", 4 * matrix, matrix, {"dram"});
  skinny.tempting("rows4", vectors_case<4, 4>);

  Shape polynomial(cases, kTool, "polynomial_f32", "f32", 2.0 * kValues * kRounds * kDegree,
                   8.0 * kValues, {"alu"});
  polynomial.tempting("degree32", polynomials_case);

  Shape bodies(cases, kTool, "bodies_f32", "f32", 20.0 * kBodies * kBodies,
               16.0 * kBodies * (kSlices + 1), {"alu"});
  bodies.tempting("all_pairs", forces_case);

  Shape field(cases, kTool, "stencil_f32", "f32", 2.0 * kTaps * kField * kField,
              8.0 * kField * kField, {"dram"});
  field.tempting("nine_rows", stencil_case);
}

}  // namespace defects
