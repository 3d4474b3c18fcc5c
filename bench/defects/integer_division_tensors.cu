// Integer division in more shapes: pictures whose rows are cut out, heads of a tensor that change
// places, and divisions that cost nothing beside what waits for memory.
#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "integer_division";

// ---- a tensor [batch, heads, rows, width] whose heads and rows change places ----

constexpr std::uint32_t kHeads = 24;
constexpr std::uint32_t kRows = 1000;
constexpr std::uint32_t kWidth = 96;  // of four values each
constexpr std::uint32_t kBatches = 12;
constexpr std::uint32_t kWords = kBatches * kHeads * kRows * kWidth;

enum class Places { grid, unsigned32, signed64 };

template <Places PLACES>
__global__ void __launch_bounds__(96) swap_heads(float* y, const float* x, std::uint32_t heads,
                                                 std::uint32_t rows, std::uint32_t width) {
  using Index = std::conditional_t<PLACES == Places::signed64, std::int64_t, std::uint32_t>;
  const std::uint32_t block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
#pragma unroll
  for (std::uint32_t k = 0; k < 4; ++k) {
    const std::uint32_t i = (block * 4 + k) * kWidth + threadIdx.x;
    Index column = threadIdx.x;
    Index row = blockIdx.x * 4 + k;
    Index head = blockIdx.y;
    Index batch = blockIdx.z;
    if (PLACES != Places::grid) {
      Index rest = i;
      column = rest % Index(width);
      rest /= Index(width);
      row = rest % Index(rows);
      rest /= Index(rows);
      head = rest % Index(heads);
      batch = rest / Index(heads);
    }
    y[((batch * rows + row) * heads + head) * width + column] = x[i] * 0.5f;
  }
}

template <Places PLACES>
Work heads_case(Pool& pool) {
  auto* x = pool.random<float>(kWords);
  auto* y = pool.take<float>(kWords);
  return {[=] {
            swap_heads<PLACES>
                <<<dim3(kRows / 4, kHeads, kBatches), kWidth>>>(y, x, kHeads, kRows, kWidth);
          },
          output(y, kWords, 0)};
}

// ---- pieces of a picture, side by side, from L2 ----

constexpr std::uint32_t kSide = 1001;
constexpr std::uint32_t kPieces = kMultiprocessors * 2048;

enum class Cut { counted, divided, in4 };

template <Cut CUT>
__global__ void __launch_bounds__(256)
    pieces(float* y, const float* x, std::uint32_t side, std::uint32_t count) {
  std::uint32_t place = (blockIdx.x * 256 + threadIdx.x) % count;
  std::uint32_t row = place / side;
  std::uint32_t column = place % side;
  float sum = 0;
#pragma unroll 4
  for (int k = 0; k < 64; ++k) {
    sum = fmaf(sum, 0.5f, x[row * (kSide + 23) + column]);
    place += 37;
    if (place >= count) place -= count;
    column += 37;
    if (column >= side) {
      column -= side;
      row = row + 1 < side ? row + 1 : 0;
    }
    if (CUT == Cut::divided || (CUT == Cut::in4 && k % 4 == 0)) {
      row = place / side;
      column = place - row * side;
    }
  }
  y[blockIdx.x * 256 + threadIdx.x] = sum;
}

template <Cut CUT>
Work pieces_case(Pool& pool) {
  auto* x = pool.random<float>((kSide + 23) * (kSide + 23));
  auto* y = pool.take<float>(kPieces);
  return {[=] { pieces<CUT><<<kPieces / 256, 256>>>(y, x, kSide, kSide * kSide); },
          output(y, kPieces)};
}

// ---- tempting: a division for each random read of a table in DRAM ----

constexpr std::uint32_t kTable = 50'000'017;
constexpr std::uint32_t kReaders = kMultiprocessors * 2048 * 4;

template <bool DIVIDES>
__global__ void __launch_bounds__(256)
    buckets(std::uint32_t* y, const std::uint32_t* table, std::uint32_t size, std::uint32_t never) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  std::uint32_t key = i * 2654435761u;
  std::uint32_t sum = 0;
#pragma unroll 4
  for (int k = 0; k < 16; ++k) {
    // By the upper half of a product, or by the rest.
    const std::uint32_t place = DIVIDES ? key % size : __umulhi(key, size);
    sum += table[place] >> 8;
    key = key * 1664525u + 1013904223u;
  }
  y[i] = sum == never ? sum : key;  // no sum is as large
}

template <bool DIVIDES>
Work buckets_case(Pool& pool) {
  auto* table = pool.random<std::uint32_t>(kTable);
  auto* y = pool.take<std::uint32_t>(kReaders);
  return {[=] { buckets<DIVIDES><<<kReaders / 256, 256>>>(y, table, kTable, ~0u); },
          output(y, kReaders, 0)};
}

}  // namespace

void add_integer_division_tensors(Cases& cases) {
  const std::vector<std::string> divided = {"alu", "latency", "dram", "l1", "l2"};
  Shape heads(cases, kTool, "swap_heads_f32", "f32", 1.0 * kWords, 8.0 * kWords, divided);
  heads.clean("grid", heads_case<Places::grid>).with({"narrow_loads"});
  heads.defect("unsigned32", 0.5, heads_case<Places::unsigned32>).with({"narrow_loads"});
  heads.defect("signed64", 1, heads_case<Places::signed64>).with({"narrow_loads"});

  Shape cut(cases, kTool, "pieces_f32", "f32", 128.0 * kPieces, 4.0 * kPieces, divided);
  cut.clean("counted", pieces_case<Cut::counted>);
  cut.defect("in4", 0.5, pieces_case<Cut::in4>);
  cut.defect("divided", 1, pieces_case<Cut::divided>);

  Shape reads(cases, kTool, "buckets_u32", "u32", 64.0 * kReaders, 4.0 * kReaders,
              {"dram", "l2", "latency", "l1"});
  reads.clean("products", buckets_case<false>).with({"uncoalesced_access", "excess_traffic"});
  reads.tempting("divisions", buckets_case<true>).with({"uncoalesced_access", "excess_traffic"});
}

}  // namespace defects
