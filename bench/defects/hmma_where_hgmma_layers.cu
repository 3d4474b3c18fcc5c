// Further products by mma.sync (HMMA) against wgmma (HGMMA), as layers of networks have them: in
// batches, of 8-bit integers, with work on the sums before they are written.
#include <mma.h>

#include <type_traits>

#include "gemm.cuh"
#include "wgmma.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "hmma_where_hgmma";

template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, std::int8_t>, int, float>;

// ---- what becomes of the sums ----
//
// d[0] belongs to (row, column), d[1] to the column after it, d[2] and d[3] eight rows below.

struct BiasRelu {
  __half* y;
  const float* bias;
  int n;

  __device__ void operator()(int row, int column, const float (&d)[4]) const {
    const float2 add = *reinterpret_cast<const float2*>(bias + column);
    __half* place = y + static_cast<std::size_t>(row) * n + column;
    *reinterpret_cast<__half2*>(place) =
        __floats2half2_rn(fmaxf(d[0] + add.x, 0.0f), fmaxf(d[1] + add.y, 0.0f));
    *reinterpret_cast<__half2*>(place + 8 * static_cast<std::size_t>(n)) =
        __floats2half2_rn(fmaxf(d[2] + add.x, 0.0f), fmaxf(d[3] + add.y, 0.0f));
  }
};

struct Integers {
  int* y;
  int n;

  __device__ void operator()(int row, int column, const int (&d)[4]) const {
    int* place = y + static_cast<std::size_t>(row) * n + column;
    *reinterpret_cast<int2*>(place) = {d[0], d[1]};
    *reinterpret_cast<int2*>(place + 8 * static_cast<std::size_t>(n)) = {d[2], d[3]};
  }
};

// So many steps that they take the time, not the product.
constexpr int kDecaySteps = 256;
constexpr float kDecay = 0.9999f;
constexpr float kDecayAdd = 1e-3f;

struct Decay {
  float* y;
  int n;

  __device__ void operator()(int row, int column, const float (&d)[4]) const {
    float x[4] = {d[0], d[1], d[2], d[3]};
#pragma unroll 16
    for (int i = 0; i < kDecaySteps; ++i) {
#pragma unroll
      for (float& each : x) each = fmaf(each, kDecay, kDecayAdd);
    }
    float* place = y + static_cast<std::size_t>(row) * n + column;
    *reinterpret_cast<float2*>(place) = {x[0], x[1]};
    *reinterpret_cast<float2*>(place + 8 * static_cast<std::size_t>(n)) = {x[2], x[3]};
  }
};

// ---- products that hand their sums to `finish` ----

template <class T, class Tile>
struct WarpSums {
  static constexpr int rows = Tile::bm / Tile::row_warps;
  static constexpr int columns = Tile::bn / Tile::column_warps;
  static constexpr int tall = rows / 16;
  static constexpr int wide = columns / 8;

  SumOf<T> d[tall][wide][4] = {};

  // Both addresses are the lane's, in the first row and the first byte of k of its warp.
  __device__ __forceinline__ void multiply_stage(unsigned a, unsigned b) {
#pragma unroll
    for (int kb = 0; kb < Tile::k_bytes; kb += 32) {
      unsigned left[tall][4];
      unsigned right[wide / 2][4];
#pragma unroll
      for (int i = 0; i < tall; ++i) load_matrices(left[i], a + i * 16 * Tile::pitch + kb);
#pragma unroll
      for (int j = 0; j < wide / 2; ++j) load_matrices(right[j], b + j * 16 * Tile::pitch + kb);
#pragma unroll
      for (int i = 0; i < tall; ++i) {
#pragma unroll
        for (int j = 0; j < wide; ++j) {
          multiply_step(d[i][j], left[i], right[j / 2][j % 2 * 2], right[j / 2][j % 2 * 2 + 1],
                        T{});
        }
      }
    }
  }
};

template <class T, class Tile, class Finish>
__global__ void __launch_bounds__(Tile::threads)
    finished_mma(Finish finish, const T* a, const T* b, int k) {
  extern __shared__ __align__(128) unsigned char finished_memory[];
  using Sums = WarpSums<T, Tile>;
  const unsigned base = shared_address(finished_memory);
  const std::size_t row_bytes = static_cast<std::size_t>(k) * sizeof(T);
  const char* a_rows = reinterpret_cast<const char*>(a) + blockIdx.y * Tile::bm * row_bytes;
  const char* b_rows = reinterpret_cast<const char*>(b) + blockIdx.x * Tile::bn * row_bytes;
  const int tiles = static_cast<int>(row_bytes / Tile::k_bytes);
  const int lane = threadIdx.x % 32;
  const int warp_row = threadIdx.x / 32 / Tile::column_warps * Sums::rows;
  const int warp_column = threadIdx.x / 32 % Tile::column_warps * Sums::columns;
  const unsigned a_lane = (warp_row + lane % 16) * Tile::pitch + lane / 16 * 16;
  const unsigned b_lane =
      (Tile::bm + warp_column + lane % 8 + lane / 16 * 8) * Tile::pitch + lane / 8 % 2 * 16;
  const auto load = [&](int t) {
    if (t < tiles) {
      const std::size_t first = static_cast<std::size_t>(t) * Tile::k_bytes;
      load_stage<Tile>(base + t % Tile::stages * Tile::stage_bytes, a_rows + first, b_rows + first,
                       row_bytes);
    }
    commit_copies();
  };

  Sums sums;
#pragma unroll
  for (int t = 0; t < Tile::stages - 1; ++t) load(t);
  for (int t = 0; t < tiles; ++t) {
    wait_copies<Tile::stages - 2>();
    __syncthreads();
    load(t + Tile::stages - 1);
    const unsigned stage = base + t % Tile::stages * Tile::stage_bytes;
    sums.multiply_stage(stage + a_lane, stage + b_lane);
  }
  const int row = blockIdx.y * Tile::bm + warp_row + lane / 4;
  const int column = blockIdx.x * Tile::bn + warp_column + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < Sums::tall; ++i) {
#pragma unroll
    for (int j = 0; j < Sums::wide; ++j) finish(row + i * 16, column + j * 8, sums.d[i][j]);
  }
}

template <class T, class Tile, class Finish>
__global__ void __launch_bounds__(kWgmmaThreads, 1)
    finished_wgmma(Finish finish, const __grid_constant__ CUtensorMap a,
                   const __grid_constant__ CUtensorMap b, int m, int n, int tiles) {
  SumOf<T> sum[Tile::parts][64];
  if (!wgmma_tile<T, Tile>(sum, a, b, m, n, tiles)) return;
  const int row = blockIdx.y * kWgmmaRows + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
  const int column = blockIdx.x * Tile::columns + threadIdx.x % 4 * 2;
#pragma unroll
  for (int p = 0; p < Tile::parts; ++p) {
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      const SumOf<T> d[4] = {sum[p][j * 4], sum[p][j * 4 + 1], sum[p][j * 4 + 2],
                             sum[p][j * 4 + 3]};
      finish(row, column + p * 128 + j * 8, d);
    }
  }
}

// ---- by the wmma API, a tile at a time through shared memory ----

constexpr int kWmmaEdge = 64;

__global__ void __launch_bounds__(128)
    wmma_product(float* c, const __half* a, const __half* b, int n, int k) {
  namespace wmma = nvcuda::wmma;
  constexpr int depth = 32;
  constexpr int pitch = depth + 8;
  __shared__ __align__(32) __half left[kWmmaEdge * pitch];
  __shared__ __align__(32) __half right[kWmmaEdge * pitch];
  const __half* a_rows = a + static_cast<std::size_t>(blockIdx.y) * kWmmaEdge * k;
  const __half* b_rows = b + static_cast<std::size_t>(blockIdx.x) * kWmmaEdge * k;
  const int warp_row = threadIdx.x / 64 * 32;
  const int warp_column = threadIdx.x / 32 % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
  for (auto& line : sum) {
    for (auto& each : line) wmma::fill_fragment(each, 0.0f);
  }
  for (int k0 = 0; k0 < k; k0 += depth) {
#pragma unroll
    for (int i = threadIdx.x; i < kWmmaEdge * depth / 8; i += 128) {
      const int row = i / (depth / 8);
      const int first = i % (depth / 8) * 8;
      const std::size_t from = static_cast<std::size_t>(row) * k + k0 + first;
      *reinterpret_cast<uint4*>(left + row * pitch + first) =
          *reinterpret_cast<const uint4*>(a_rows + from);
      *reinterpret_cast<uint4*>(right + row * pitch + first) =
          *reinterpret_cast<const uint4*>(b_rows + from);
    }
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < depth; kk += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> y[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        wmma::load_matrix_sync(x[i], left + (warp_row + i * 16) * pitch + kk, pitch);
        wmma::load_matrix_sync(y[i], right + (warp_column + i * 16) * pitch + kk, pitch);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
        wmma::mma_sync(sum[i / 2][i % 2], x[i / 2], y[i % 2], sum[i / 2][i % 2]);
    }
    __syncthreads();
  }
  float* out = c + static_cast<std::size_t>(blockIdx.y * kWmmaEdge + warp_row) * n +
               blockIdx.x * kWmmaEdge + warp_column;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    wmma::store_matrix_sync(out + static_cast<std::size_t>(i / 2 * 16) * n + i % 2 * 16,
                            sum[i / 2][i % 2], n, wmma::mem_row_major);
  }
}

Prepare wmma_case(Product size) {
  return [size](Pool& pool) -> Work {
    const Operands<__half> o = take_operands<__half>(pool, size);
    const dim3 grid(size.n / kWmmaEdge, size.m / kWmmaEdge);
    return product_work<__half>(
        o, size, [=] { wmma_product<<<grid, 128>>>(o.c, o.a, o.b, size.n, size.k); });
  };
}

// ---- layers: operands, what finishes them, and the host's reference ----

template <class T>
T value_at(const T* place) {
  T value{};
  REQUIRE(cudaMemcpy(&value, place, sizeof(value), cudaMemcpyDeviceToHost));
  return value;
}

using defects::host_value;
double host_value(std::int8_t x) {
  return x;
}
double host_value(int x) {
  return x;
}

// The worst of 64 places, by the measure of Output; `expected` makes a result of a sum and a
// column.
template <class T, class Y, class Expected>
double finished_error(const T* a, const T* b, const Y* y, const Product& size, double rms,
                      const Expected& expected) {
  std::vector<T> left(size.k);
  std::vector<T> right(size.k);
  double worst = 0;
  for (unsigned i = 0; i < 64; ++i) {
    const std::size_t row = i * 104729u % size.m;
    const std::size_t column = i * 15485863u % size.n;
    REQUIRE(cudaMemcpy(left.data(), a + row * size.k, size.k * sizeof(T), cudaMemcpyDeviceToHost));
    REQUIRE(
        cudaMemcpy(right.data(), b + column * size.k, size.k * sizeof(T), cudaMemcpyDeviceToHost));
    double sum = 0;
    for (int p = 0; p < size.k; ++p) sum += host_value(left[p]) * host_value(right[p]);
    const double wanted = expected(sum, column);
    const double got = host_value(value_at(y + row * size.n + column));
    const double error = std::fabs(got - wanted) / (std::fabs(wanted) + rms);
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

template <class T, class Finish>
struct Layer {
  T* a;
  T* b;
  Finish finish;
  Output out;
  std::function<double()> error;
};

using BiasLayer = Layer<__half, BiasRelu>;
using IntegerLayer = Layer<std::int8_t, Integers>;
using DecayLayer = Layer<__half, Decay>;

std::size_t count_of(int rows, int columns) {
  return static_cast<std::size_t>(rows) * columns;
}

BiasLayer bias_layer(Pool& pool, const Product& size) {
  auto* a = pool.random<__half>(count_of(size.m, size.k));
  auto* b = pool.random<__half>(count_of(size.n, size.k));
  auto* bias = pool.random<float>(size.n);
  auto* y = pool.take<__half>(count_of(size.m, size.n));
  const double rms = std::sqrt(size.k) / 3;
  return {a, b, {y, bias, size.n}, output(y, count_of(size.m, size.n), 2e-3), [=] {
            return finished_error(a, b, y, size, rms, [=](double sum, std::size_t column) {
              return std::fmax(sum + value_at(bias + column), 0.0);
            });
          }};
}

IntegerLayer integer_layer(Pool& pool, const Product& size) {
  auto* a = reinterpret_cast<std::int8_t*>(pool.random<std::uint8_t>(count_of(size.m, size.k)));
  auto* b = reinterpret_cast<std::int8_t*>(pool.random<std::uint8_t>(count_of(size.n, size.k)));
  auto* y = pool.take<std::int32_t>(count_of(size.m, size.n));
  return {a, b, {y, size.n}, output(y, count_of(size.m, size.n), 0), [=] {
            return finished_error(a, b, y, size, 1, [](double sum, std::size_t) { return sum; });
          }};
}

DecayLayer decay_layer(Pool& pool, const Product& size) {
  auto* a = pool.random<__half>(count_of(size.m, size.k));
  auto* b = pool.random<__half>(count_of(size.n, size.k));
  auto* y = pool.take<float>(count_of(size.m, size.n));
  const double rms = std::sqrt(size.k) / 3;
  return {a, b, {y, size.n}, output(y, count_of(size.m, size.n), 1e-3), [=] {
            return finished_error(a, b, y, size, rms, [](double sum, std::size_t) {
              for (int i = 0; i < kDecaySteps; ++i) sum = sum * kDecay + kDecayAdd;
              return sum;
            });
          }};
}

template <class Tile, class T, class Finish>
Prepare layer_by_mma(Layer<T, Finish> (*take)(Pool&, const Product&), Product size) {
  return [=](Pool& pool) -> Work {
    const Layer<T, Finish> layer = take(pool, size);
    allow_shared(finished_mma<T, Tile, Finish>, Tile::shared_bytes);
    const dim3 grid(size.n / Tile::bn, size.m / Tile::bm);
    return {[=] {
              finished_mma<T, Tile, Finish><<<grid, Tile::threads, Tile::shared_bytes>>>(
                  layer.finish, layer.a, layer.b, size.k);
            },
            layer.out, layer.error};
  };
}

// Tensor maps know bytes, not their sign.
std::uint8_t* mappable(std::int8_t* data) {
  return reinterpret_cast<std::uint8_t*>(data);
}
__half* mappable(__half* data) {
  return data;
}

template <class Tile, class T, class Finish>
Prepare layer_by_wgmma(Layer<T, Finish> (*take)(Pool&, const Product&), Product size) {
  return [=](Pool& pool) -> Work {
    const Layer<T, Finish> layer = take(pool, size);
    allow_shared(finished_wgmma<T, Tile, Finish>, Tile::shared_bytes);
    const CUtensorMap a = tensor_map(mappable(layer.a), size.m, size.k, kWgmmaRows);
    const CUtensorMap b = tensor_map(mappable(layer.b), size.n, size.k, Tile::columns);
    const dim3 grid(size.n / Tile::columns, size.m / kWgmmaRows);
    const int tiles = size.k * static_cast<int>(sizeof(T)) / kWgmmaKBytes;
    return {[=] {
              finished_wgmma<T, Tile, Finish><<<grid, kWgmmaThreads, Tile::shared_bytes>>>(
                  layer.finish, a, b, size.m, size.n, tiles);
            },
            layer.out, layer.error};
  };
}

// ---- cases ----

using Mma256x128 = MmaTile<256, 128, 4, 2, 64, 16, 3>;
using Mma128Deep = MmaTile<128, 128, 2, 2, 128, 16, 3>;
using Mma128x64 = MmaTile<128, 64, 4, 2, 64, 16, 4>;
using Mma64x128 = MmaTile<64, 128, 2, 4, 64, 16, 4>;
using Mma32x64 = MmaTile<32, 64, 1, 2, 64, 16, 4>;
using Mma32x128 = MmaTile<32, 128, 1, 4, 64, 16, 6>;
using Mma16x128 = MmaTile<16, 128, 1, 4, 128, 16, 3>;

const std::vector<std::string> kFast = {"tensor", "l2", "latency"};
const std::vector<std::string> kSlow = {"tensor", "l1", "l2", "latency"};
const std::vector<std::string> kMoving = {"dram", "l2", "latency"};

void add_plain(Cases& cases) {
  const Product heads{1024, 1024, 1024, 16};
  Shape batch(cases, kTool, "batch_bf16", "bf16", heads.flops(), heads.bytes(2), kFast);
  batch.clean("wgmma_128x256", wgmma_case<__nv_bfloat16, Wgmma256>(heads));
  batch.clean("wgmma_128x128", wgmma_case<__nv_bfloat16, Wgmma128>(heads));
  batch.defect("mma_256x128", 0.4, mma_case<__nv_bfloat16, Mma256x128>(heads)).in(kSlow);
  batch.defect("mma_64x128", 0.7, mma_case<__nv_bfloat16, Mma64x128>(heads)).in(kSlow);
  batch.defect("mma_32x64", 1, mma_case<__nv_bfloat16, Mma32x64>(heads))
      .with({"excess_traffic"})
      .in(kSlow);

  const Product gradient{2048, 2048, 16384};
  Shape deep(cases, kTool, "weight_gradient_bf16", "bf16", gradient.flops(), gradient.bytes(2),
             kFast);
  deep.clean("wgmma_128x256", wgmma_case<__nv_bfloat16, Wgmma256>(gradient));
  deep.defect("mma_128x128_k64", 0.5, mma_case<__nv_bfloat16, Mma128Deep>(gradient)).in(kSlow);
  deep.defect("mma_128x64", 0.8, mma_case<__nv_bfloat16, Mma128x64>(gradient)).in(kSlow);

  const Product words{32000, 1024, 4096};
  Shape logits(cases, kTool, "logits_bf16", "bf16", words.flops(), words.bytes(2), kFast);
  logits.clean("wgmma_128x256", wgmma_case<__nv_bfloat16, Wgmma256>(words));
  logits.defect("mma_256x128", 0.4, mma_case<__nv_bfloat16, Mma256x128>(words)).in(kSlow);
  logits.defect("mma_128x128", 0.6, mma_case<__nv_bfloat16, Mma128>(words)).in(kSlow);

  const Product inner{11008, 2048, 4096};
  Shape mlp(cases, kTool, "mlp_f16", "f16", inner.flops(), inner.bytes(2), kFast);
  mlp.clean("wgmma_128x256", wgmma_case<__half, Wgmma256>(inner));
  mlp.defect("mma_128x128", 0.5, mma_case<__half, Mma128>(inner)).in(kSlow);
  mlp.defect("wmma_64x64", 1, wmma_case(inner))
      .with({"excess_traffic", "long_scoreboard", "barrier_stalls"})
      .in(kSlow);

  const Product tokens{8192, 1024, 1024};
  Shape projection(cases, kTool, "projection_tf32", "tf32", tokens.flops(), tokens.bytes(4), kFast);
  projection.clean("wgmma_128x256", wgmma_case<float, Wgmma256>(tokens));
  projection.defect("mma_128x128", 0.5, mma_case<float, Mma128>(tokens)).in(kSlow);
  projection.defect("mma_64x64", 0.9, mma_case<float, Mma64>(tokens)).in(kSlow);

  const Product blocks{512, 512, 1024, 32};
  Shape many(cases, kTool, "batch_tf32", "tf32", blocks.flops(), blocks.bytes(4), kFast);
  many.clean("wgmma_128x256", wgmma_case<float, Wgmma256>(blocks));
  many.defect("mma_128x128_k32", 0.5, mma_case<float, Mma128Deep>(blocks)).in(kSlow);
  many.defect("mma_64x128", 0.8, mma_case<float, Mma64x128>(blocks)).in(kSlow);
}

void add_finished(Cases& cases) {
  const Product dense{8192, 4096, 1024};
  const double dense_bytes = 2.0 * (1.0 * (dense.m + dense.n) * dense.k + 1.0 * dense.m * dense.n);
  Shape bias(cases, kTool, "bias_relu_f16", "f16", dense.flops(), dense_bytes, kFast);
  bias.clean("wgmma_128x256", layer_by_wgmma<Wgmma256>(bias_layer, dense));
  bias.clean("wgmma_128x128", layer_by_wgmma<Wgmma128>(bias_layer, dense));
  bias.defect("mma_128x128", 0.5, layer_by_mma<Mma128>(bias_layer, dense)).in(kSlow);
  bias.defect("mma_64x64", 0.9, layer_by_mma<Mma64>(bias_layer, dense)).in(kSlow);

  const Product quantised{4096, 8192, 4096};
  Shape linear(cases, kTool, "linear_i8", "i8", quantised.flops(), quantised.bytes(1), kFast);
  linear.clean("wgmma_128x256", layer_by_wgmma<Wgmma256>(integer_layer, quantised));
  linear.defect("mma_256x128", 0.4, layer_by_mma<Mma256x128>(integer_layer, quantised)).in(kSlow);
  linear.defect("mma_128x128", 0.6, layer_by_mma<Mma128>(integer_layer, quantised)).in(kSlow);
  linear.defect("mma_64x64", 1, layer_by_mma<Mma64>(integer_layer, quantised)).in(kSlow);

  // The steps after the product take the time.
  const Product shallow{4096, 4096, 128};
  const double steps = 2.0 * kDecaySteps * shallow.m * shallow.n;
  Shape decay(cases, kTool, "decay_f16", "f32", shallow.flops() + steps, shallow.bytes(2), {"alu"});
  decay.clean("wgmma_128x256", layer_by_wgmma<Wgmma256>(decay_layer, shallow));
  decay.tempting("mma_128x128", layer_by_mma<Mma128>(decay_layer, shallow));
}

void add_moving(Cases& cases) {
  // Written once, hardly computed.
  const Product attention{1024, 1024, 128, 64};
  Shape scores(cases, kTool, "scores_bf16", "bf16", attention.flops(), attention.bytes(2), kMoving);
  scores.clean("wgmma_128x128", wgmma_case<__nv_bfloat16, Wgmma128>(attention));
  scores.tempting("mma_128x128", mma_case<__nv_bfloat16, Mma128>(attention));

  // Read once, written once.
  const Product narrow{262144, 128, 256};
  Shape rank(cases, kTool, "low_rank_f16", "f16", narrow.flops(), narrow.bytes(2), kMoving);
  rank.clean("wgmma_128x128", wgmma_case<__half, Wgmma128>(narrow));
  rank.tempting("mma_128x128", mma_case<__half, Mma128>(narrow));

  // A few rows against a matrix, or against one of each of many heads, that is read once.
  const Product decode{16, 3 * kMultiprocessors * 128, 2048};
  Shape token(cases, kTool, "decode_tf32", "tf32", decode.flops(), decode.bytes(4), kMoving);
  token.tempting("mma_16x128", mma_case<float, Mma16x128>(decode));

  const Product keys{16, 1024, 128, 2048};
  Shape cache(cases, kTool, "decode_scores_bf16", "bf16", keys.flops(), keys.bytes(2), kMoving);
  cache.tempting("mma_16x128", mma_case<__nv_bfloat16, Mma16x128>(keys));

  const Product few{32, 4 * kMultiprocessors * 128, 4096};
  Shape rows(cases, kTool, "few_rows_i8", "i8", few.flops(), few.bytes(1), kMoving);
  rows.tempting("mma_32x128", layer_by_mma<Mma32x128>(integer_layer, few));

  // Larger tiles leave most multiprocessors idle.
  const Product small{768, 768, 768};
  Shape little(cases, kTool, "small_bf16", "bf16", small.flops(), small.bytes(2),
               {"latency", "tail"});
  little.clean("wgmma_128x128", wgmma_case<__nv_bfloat16, Wgmma128>(small))
      .with({"block_shortage"});
  little.tempting("mma_64x64", mma_case<__nv_bfloat16, Mma64>(small)).with({"block_shortage"});
}

}  // namespace

void add_hmma_where_hgmma_layers(Cases& cases) {
  add_plain(cases);
  add_finished(cases);
  add_moving(cases);
}

}  // namespace defects
