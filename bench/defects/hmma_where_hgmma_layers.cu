// Further products by mma.sync (HMMA) against wgmma (HGMMA), as layers of networks have them: in
// batches, of 8-bit integers, with work on the sums before they are written.
#include <mma.h>

#include "layers.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "hmma_where_hgmma";

// ---- by the wmma API, a tile at a time through shared memory ----

constexpr int kWmmaEdge = 64;

// PAIRED: eight threads that write at once take rows four apart, which share no bank; neighbors
// share four.
template <bool PAIRED>
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
      const int line = i / (depth / 8);
      const int row = PAIRED ? line / 8 * 8 + line % 2 * 4 + line / 2 % 4 : line;
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

template <bool PAIRED>
Prepare wmma_case(Product size) {
  return [size](Pool& pool) -> Work {
    const Operands<__half> o = take_operands<__half>(pool, size);
    const dim3 grid(size.n / kWmmaEdge, size.m / kWmmaEdge);
    return product_work<__half>(
        o, size, [=] { wmma_product<PAIRED><<<grid, 128>>>(o.c, o.a, o.b, size.n, size.k); });
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

template <class Tile, class Place = PlaceInGrid, class T, class Finish>
Prepare layer_by_wgmma(Layer<T, Finish> (*take)(Pool&, const Product&), Product size) {
  return [=](Pool& pool) -> Work {
    const Layer<T, Finish> layer = take(pool, size);
    const auto kernel = finished_wgmma<T, Tile, Finish, Place>;
    allow_shared(kernel, Tile::shared_bytes);
    const CUtensorMap a = tensor_map(mappable(layer.a), size.m, size.k, kWgmmaRows);
    const CUtensorMap b = tensor_map(mappable(layer.b), size.n, size.k, Tile::columns);
    const dim3 grid(size.n / Tile::columns, size.m / kWgmmaRows);
    const int tiles = size.k * static_cast<int>(sizeof(T)) / kWgmmaKBytes;
    return {[=] {
              kernel<<<grid, kWgmmaThreads, Tile::shared_bytes>>>(layer.finish, a, b, size.m,
                                                                  size.n, tiles);
            },
            layer.out, layer.error};
  };
}

template <class Tile>
Prepare bias_by_rows(Product size) {
  return [=](Pool& pool) -> Work {
    const BiasLayer layer = bias_layer(pool, size);
    allow_shared(bias_rows_wgmma<Tile>, Tile::shared_bytes);
    const CUtensorMap a = tensor_map(layer.a, size.m, size.k, kWgmmaRows);
    const CUtensorMap b = tensor_map(layer.b, size.n, size.k, Tile::columns);
    const dim3 grid(size.n / Tile::columns, size.m / kWgmmaRows);
    const int tiles = size.k * 2 / kWgmmaKBytes;
    return {[=] {
              bias_rows_wgmma<Tile><<<grid, kWgmmaThreads, Tile::shared_bytes>>>(
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
// Smaller tiles than another setting's, and slower by a tenth or more than that one.
const std::vector<std::string> kSmaller = {"excess_traffic"};
// Fragments stored as they lie in registers; by whole rows it takes three quarters of the time.
const std::vector<std::string> kInPieces = {"uncoalesced_access"};

void add_plain(Cases& cases) {
  const Product heads{1024, 1024, 1024, 16};
  Shape batch(cases, kTool, "batch_bf16", "bf16", heads.flops(), heads.bytes(2), kFast);
  batch.clean("wgmma_128x256", wgmma_case<__nv_bfloat16, Wgmma256>(heads));
  batch.clean("wgmma_128x128", wgmma_case<__nv_bfloat16, Wgmma128>(heads)).with(kSmaller);
  batch.defect("mma_256x128", 0.4, mma_case<__nv_bfloat16, Mma256x128>(heads)).in(kSlow);
  batch.defect("mma_64x128", 0.7, mma_case<__nv_bfloat16, Mma64x128>(heads))
      .with(kSmaller)
      .in(kSlow);
  batch.defect("mma_32x64", 1, mma_case<__nv_bfloat16, Mma32x64>(heads)).with(kSmaller).in(kSlow);

  const Product gradient{2048, 2048, 16384};
  Shape deep(cases, kTool, "weight_gradient_bf16", "bf16", gradient.flops(), gradient.bytes(2),
             kFast);
  deep.clean("wgmma_128x256", wgmma_case<__nv_bfloat16, Wgmma256>(gradient));
  deep.defect("mma_128x128_k64", 0.5, mma_case<__nv_bfloat16, Mma128Deep>(gradient)).in(kSlow);
  deep.defect("mma_128x64", 0.8, mma_case<__nv_bfloat16, Mma128x64>(gradient))
      .with(kSmaller)
      .in(kSlow);

  const Product words{32000, 1024, 4096};
  Shape logits(cases, kTool, "logits_bf16", "bf16", words.flops(), words.bytes(2), kFast);
  logits.clean("wgmma_128x256", wgmma_case<__nv_bfloat16, Wgmma256>(words));
  logits.defect("mma_256x128", 0.4, mma_case<__nv_bfloat16, Mma256x128>(words)).in(kSlow);
  logits.defect("mma_128x128", 0.6, mma_case<__nv_bfloat16, Mma128>(words)).in(kSlow);

  const Product inner{11008, 2048, 4096};
  Shape mlp(cases, kTool, "mlp_f16", "f16", inner.flops(), inner.bytes(2), kFast);
  mlp.clean("wgmma_128x256", wgmma_case<__half, Wgmma256>(inner));
  mlp.defect("mma_128x128", 0.5, mma_case<__half, Mma128>(inner)).in(kSlow);
  const std::vector<std::string> plain = {"excess_traffic", "long_scoreboard", "barrier_stalls"};
  std::vector<std::string> conflicting = plain;  // without conflicts it gains a fifth
  conflicting.emplace_back("bank_conflicts");
  mlp.defect("wmma_64x64", 1, wmma_case<false>(inner)).with(conflicting).in(kSlow);
  mlp.defect("wmma_64x64_no_conflicts", 1, wmma_case<true>(inner)).with(plain).in(kSlow);

  const Product tokens{8192, 1024, 1024};
  Shape projection(cases, kTool, "projection_tf32", "tf32", tokens.flops(), tokens.bytes(4), kFast);
  projection.clean("wgmma_128x256", wgmma_case<float, Wgmma256>(tokens));
  projection.defect("mma_128x128", 0.5, mma_case<float, Mma128>(tokens)).in(kSlow);
  projection.defect("mma_64x64", 0.9, mma_case<float, Mma64>(tokens)).with(kSmaller).in(kSlow);

  const Product blocks{512, 512, 1024, 32};
  Shape many(cases, kTool, "batch_tf32", "tf32", blocks.flops(), blocks.bytes(4), kFast);
  many.clean("wgmma_128x256", wgmma_case<float, Wgmma256>(blocks));
  many.defect("mma_128x128_k32", 0.5, mma_case<float, Mma128Deep>(blocks)).in(kSlow);
  many.defect("mma_64x128", 0.8, mma_case<float, Mma64x128>(blocks)).with(kSmaller).in(kSlow);
}

void add_finished(Cases& cases) {
  const Product dense{8192, 4096, 1024};
  const double dense_bytes = 2.0 * (1.0 * (dense.m + dense.n) * dense.k + 1.0 * dense.m * dense.n);
  Shape bias(cases, kTool, "bias_relu_f16", "f16", dense.flops(), dense_bytes, kFast);
  bias.clean("wgmma_128x256", layer_by_wgmma<Wgmma256>(bias_layer, dense)).with(kInPieces);
  bias.clean("wgmma_128x128", layer_by_wgmma<Wgmma128>(bias_layer, dense)).with(kInPieces);
  bias.defect("mma_128x128", 0.5, layer_by_mma<Mma128>(bias_layer, dense)).in(kSlow);
  bias.defect("mma_64x64", 0.9, layer_by_mma<Mma64>(bias_layer, dense)).with(kSmaller).in(kSlow);
  bias.clean("wgmma_128x256_rows", bias_by_rows<Wgmma256>(dense));
  bias.clean("wgmma_128x128_rows", bias_by_rows<Wgmma128>(dense));

  const Product quantized{4096, 8192, 4096};
  Shape linear(cases, kTool, "linear_i8", "i8", quantized.flops(), quantized.bytes(1), kFast);
  linear.clean("wgmma_128x256", layer_by_wgmma<Wgmma256>(integer_layer, quantized));
  linear.defect("mma_256x128", 0.4, layer_by_mma<Mma256x128>(integer_layer, quantized)).in(kSlow);
  linear.defect("mma_128x128", 0.6, layer_by_mma<Mma128>(integer_layer, quantized)).in(kSlow);
  linear.defect("mma_64x64", 1, layer_by_mma<Mma64>(integer_layer, quantized))
      .with(kSmaller)
      .in(kSlow);
  linear.clean("wgmma_128x256_stripes",
               layer_by_wgmma<Wgmma256, PlaceInStripe<16>>(integer_layer, quantized));

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
