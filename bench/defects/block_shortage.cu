// Block shortage: too few blocks for the multiprocessors, a last wave that is nearly empty, or
// blocks of very unequal work.
#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "block_shortage";

// ---- arithmetic in items, shared out evenly among the blocks ----

// Item i is a run of blockDim.x values.
__global__ void __launch_bounds__(1024, 1)
    fma_items(float* y, const float* x, int items, int steps) {
  const int begin = static_cast<int>(static_cast<long long>(items) * blockIdx.x / gridDim.x);
  const int end = static_cast<int>(static_cast<long long>(items) * (blockIdx.x + 1) / gridDim.x);
  for (int item = begin; item < end; ++item) {
    const int i = item * blockDim.x + threadIdx.x;
    y[i] = fma_chain(x[i], steps);
  }
}

struct Items {
  int count;
  int threads;
  int steps;

  [[nodiscard]] double flops() const { return 2.0 * count * threads * steps; }
  [[nodiscard]] double bytes() const { return 8.0 * count * threads; }
};

// shared_bytes: so much that as few blocks as wanted share a multiprocessor.
Prepare fma_case(Items items, int blocks, int shared_bytes = 0) {
  return [=](Pool& pool) -> Work {
    const std::size_t count = static_cast<std::size_t>(items.count) * items.threads;
    auto* x = pool.random<float>(count);
    auto* y = pool.take<float>(count);
    allow_shared(fma_items, shared_bytes);
    return {
        [=] { fma_items<<<blocks, items.threads, shared_bytes>>>(y, x, items.count, items.steps); },
        output(y, count)};
  };
}

// ---- a scaled copy on a grid of two dimensions ----

constexpr std::uint32_t kCopy = 1u << 26;

__global__ void __launch_bounds__(1024) scale_copy(__half* y, const __half* x, float a) {
  using Word = Pack<__half, 8>;
  const std::uint32_t blocks = gridDim.x * gridDim.y;
  const std::uint32_t block = blockIdx.y * gridDim.x + blockIdx.x;
  const std::uint32_t step = blocks * blockDim.x * 2;
  const auto* from = reinterpret_cast<const Word*>(x);
  auto* to = reinterpret_cast<Word*>(y);
  for (std::uint32_t i = block * blockDim.x * 2 + threadIdx.x; i < kCopy / 8; i += step) {
    Word word[2] = {from[i], from[i + blockDim.x]};
#pragma unroll
    for (int k = 0; k < 2; ++k) {
#pragma unroll
      for (int j = 0; j < 8; ++j) from_float(word[k].v[j], to_float(word[k].v[j]) * a);
      to[i + k * blockDim.x] = word[k];
    }
  }
}

Prepare copy_case(dim3 grid, int threads) {
  return [=](Pool& pool) -> Work {
    auto* x = pool.random<__half>(kCopy);
    auto* y = pool.take<__half>(kCopy);
    return {[=] { scale_copy<<<grid, threads>>>(y, x, 0.5f); }, output(y, kCopy, 0)};
  };
}

// ---- unequal blocks: each has the chunks from its bound to the next ----

constexpr int kChunks = kMultiprocessors * 4 * 64;
constexpr int kSteps = 256;

enum class Spread { even, ramp, hot };

__global__ void lay_out_bounds(int* bounds, int blocks, Spread spread) {
  const int b = threadIdx.x + blockIdx.x * blockDim.x;
  if (b > blocks) return;
  const double part = static_cast<double>(b) / blocks;
  double bound = part;
  if (spread == Spread::ramp) bound = part * part;
  // The first block has as much as eight others.
  if (spread == Spread::hot) bound = b == 0 ? 0 : (b + 7.0) / (blocks + 7.0);
  bounds[b] = static_cast<int>(bound * kChunks + 0.5);
}

__global__ void __launch_bounds__(256)
    hash_chunks(std::uint32_t* y, const std::uint32_t* x, const int* bounds) {
  const int end = bounds[blockIdx.x + 1];
  for (int chunk = bounds[blockIdx.x]; chunk < end; ++chunk) {
    const int i = chunk * 256 + threadIdx.x;
    std::uint32_t value = x[i];
#pragma unroll 16
    for (int step = 0; step < kSteps; ++step) value = (value ^ value >> 13) * 1664525u + 17u;
    y[i] = value;
  }
}

Prepare chunks_case(Spread spread, int blocks) {
  return [=](Pool& pool) -> Work {
    constexpr std::size_t count = std::size_t{kChunks} * 256;
    auto* x = pool.random<std::uint32_t>(count);
    auto* y = pool.take<std::uint32_t>(count);
    auto* bounds = pool.take<int>(blocks + 1);
    lay_out_bounds<<<blocks / 256 + 1, 256>>>(bounds, blocks, spread);
    return {[=] { hash_chunks<<<blocks, 256>>>(y, x, bounds); }, output(y, count, 0)};
  };
}

}  // namespace

void add_block_shortage(Cases& cases) {
  const Items few{1056, 1024, 3072};
  Shape items(cases, kTool, "fma_items_f32", "f32", few.flops(), few.bytes(), {"alu"});
  items.clean("blocks264", fma_case(few, 264));
  items.clean("blocks528", fma_case(few, 528));
  items.defect("blocks66", 0.5, fma_case(few, 66)).in({"tail"});
  items.defect("blocks16", 1, fma_case(few, 16)).in({"tail"});

  Shape copy(cases, kTool, "scale_copy_f16", "f16", 1.0 * kCopy, 4.0 * kCopy, {"dram"});
  copy.clean("grid_64x256", copy_case(dim3(64, 256), 256));
  copy.clean("grid_33x32", copy_case(dim3(33, 32), 256));
  copy.defect("grid_4x5", 0.6, copy_case(dim3(4, 5), 1024))
      .with({"long_scoreboard"})
      .in({"tail", "latency"});
  copy.defect("grid_4x2", 1, copy_case(dim3(4, 2), 1024))
      .with({"long_scoreboard"})
      .in({"tail", "latency"});

  constexpr int whole = 120 << 10;  // one block a multiprocessor
  const Items many{13200, 1024, 256};
  Shape waves(cases, kTool, "waves_f32", "f32", many.flops(), many.bytes(), {"alu"});
  waves.clean("blocks264", fma_case(many, 264, whole));
  waves.clean("blocks528", fma_case(many, 528, whole));
  waves.tempting("blocks132", fma_case(many, 132, whole));
  waves.tempting("blocks128", fma_case(many, 128, whole));
  waves.tempting("blocks2641", fma_case(many, 2641, whole));
  waves.defect("blocks200", 0.4, fma_case(many, 200, whole)).in({"tail"});
  waves.defect("blocks133", 1, fma_case(many, 133, whole)).in({"tail"});

  const double values = 256.0 * kChunks;
  Shape chunks(cases, kTool, "hash_chunks_u32", "u32", 2.0 * values * kSteps, 8.0 * values,
               {"alu"});
  chunks.clean("even528", chunks_case(Spread::even, 528));
  chunks.clean("even1056", chunks_case(Spread::even, 1056));
  chunks.defect("ramp", 0.6, chunks_case(Spread::ramp, 528)).in({"tail", "alu"});
  chunks.defect("hot", 1, chunks_case(Spread::hot, 528)).in({"tail"});
}

}  // namespace defects
