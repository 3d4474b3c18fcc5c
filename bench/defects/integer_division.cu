// Integer division in addressing: indices split by / and % where counting, a mask or a product by a
// prepared reciprocal gives the same.
#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "integer_division";

// A divisor with its reciprocal, prepared on the host: n / divisor for n below 2^31.
struct Divisor {
  std::uint32_t divisor = 1;
  std::uint32_t factor = 0;
  std::uint32_t shift = 0;
};

Divisor prepared(std::uint32_t divisor) {
  Divisor out;
  out.divisor = divisor;
  while ((1ull << out.shift) < divisor) ++out.shift;
  const std::uint64_t one = 1;
  out.factor =
      static_cast<std::uint32_t>(((one << 32) * ((one << out.shift) - divisor)) / divisor + 1);
  return out;
}

__device__ __forceinline__ std::uint32_t quotient(std::uint32_t n, Divisor by) {
  return (__umulhi(n, by.factor) + n) >> by.shift;
}

// ---- elements of a tensor with four extents, added to one with other strides ----

struct Extents {
  std::uint32_t size[3];  // of the inner three
  std::uint32_t stride[4];
  Divisor by[3];
};

constexpr std::uint32_t kOuter = 96;
constexpr std::uint32_t kInner[3] = {60, 56, 56};
constexpr std::uint32_t kElements = kOuter * 60 * 56 * 56;

enum class Split { reciprocal, unsigned32, signed32, signed64 };

template <class Index>
__device__ __forceinline__ std::uint32_t other_place(Index i, const Extents& extents) {
  Index place = 0;
#pragma unroll
  for (int d = 2; d >= 0; --d) {
    const Index size = static_cast<Index>(extents.size[d]);
    place += (i % size) * static_cast<Index>(extents.stride[d + 1]);
    i /= size;
  }
  return static_cast<std::uint32_t>(place + i * static_cast<Index>(extents.stride[0]));
}

__device__ __forceinline__ std::uint32_t other_place_by_factor(std::uint32_t i,
                                                               const Extents& extents) {
  std::uint32_t place = 0;
#pragma unroll
  for (int d = 2; d >= 0; --d) {
    const std::uint32_t next = quotient(i, extents.by[d]);
    place += (i - next * extents.size[d]) * extents.stride[d + 1];
    i = next;
  }
  return place + i * extents.stride[0];
}

// Four elements a thread, a quarter of the tensor apart.
template <Split SPLIT>
__global__ void __launch_bounds__(256)
    add_strided(__half* y, const __half* x, const __half* z, Extents extents) {
  const std::uint32_t first = blockIdx.x * 256 + threadIdx.x;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const std::uint32_t i = first + k * (kElements / 4);
    std::uint32_t from = 0;
    if (SPLIT == Split::reciprocal) from = other_place_by_factor(i, extents);
    if (SPLIT == Split::unsigned32) from = other_place<std::uint32_t>(i, extents);
    if (SPLIT == Split::signed32) from = other_place<std::int32_t>(i, extents);
    if (SPLIT == Split::signed64) from = other_place<std::int64_t>(i, extents);
    y[i] = __hadd(x[i], z[from]);
  }
}

// The second tensor is the same for all of the outermost extent: it stays in L2.
template <Split SPLIT>
Work strided_case(Pool& pool) {
  auto* x = pool.random<__half>(kElements);
  auto* z = pool.random<__half>(kElements / kOuter);
  auto* y = pool.take<__half>(kElements);
  Extents extents;
  for (int d = 0; d < 3; ++d) {
    extents.size[d] = kInner[d];
    extents.by[d] = prepared(kInner[d]);
  }
  extents.stride[0] = 0;
  extents.stride[1] = 56 * 56;
  extents.stride[2] = 56;
  extents.stride[3] = 1;
  return {[=] { add_strided<SPLIT><<<kElements / 1024, 256>>>(y, x, z, extents); },
          output(y, kElements, 1e-3)};
}

// ---- windows of a picture: the tap's row and column from its number ----

constexpr std::uint32_t kPictures = 48;
constexpr std::uint32_t kSide = 256;
constexpr std::uint32_t kTaps = 49;

enum class Taps { nested, unsigned32, signed32, signed64 };

template <class Index, bool NESTED>
__global__ void __launch_bounds__(256)
    windows(float* y, const float* x, const float* taps, Index width, Index count) {
  const std::uint32_t column = threadIdx.x;
  const float* picture = x + (blockIdx.x * (kSide + 8) + blockIdx.y) * kSide;
  float sum = 0;
  if (NESTED) {
#pragma unroll 1
    for (Index r = 0; r < width; ++r) {
#pragma unroll 7
      for (Index c = 0; c < width; ++c) {
        sum = fmaxf(sum * 0.5f, picture[r * kSide + column + c] - taps[r * width + c]);
      }
    }
  } else {
#pragma unroll 7
    for (Index tap = 0; tap < count; ++tap) {
      const Index r = tap / width;
      const Index c = tap % width;
      sum = fmaxf(sum * 0.5f, picture[r * kSide + column + c] - taps[tap]);
    }
  }
  y[(blockIdx.x * kSide + blockIdx.y) * kSide + column] = sum;
}

template <class Index, bool NESTED>
Work windows_case(Pool& pool) {
  auto* x = pool.random<float>(kPictures * (kSide + 8) * kSide + kSide);
  auto* taps = pool.random<float>(kTaps);
  auto* y = pool.take<float>(kPictures * kSide * kSide);
  return {[=] {
            windows<Index, NESTED>
                <<<dim3(kPictures, kSide), kSide>>>(y, x, taps, Index(7), Index(kTaps));
          },
          output(y, kPictures * kSide * kSide)};
}

// ---- a ring of samples ----

constexpr std::uint32_t kRing = 3000;
constexpr int kReads = 256;
constexpr std::uint32_t kReaders = kMultiprocessors * 2048 * 4;

// COUNTED: the place goes up by the step, and back by the ring's length when it is beyond.
template <class Index, bool COUNTED>
__global__ void __launch_bounds__(256) ring(float* y, const float* x, Index length, Index step) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  Index place = static_cast<Index>(i) % length;
  float sum = 0;
#pragma unroll 4
  for (int k = 0; k < kReads; ++k) {
    sum = fmaf(sum, 0.5f, x[place]);
    if (COUNTED) {
      place += step;
      if (place >= length) place -= length;
    } else {
      place = (place + step) % length;
    }
  }
  y[i] = sum;
}

template <class Index, bool COUNTED>
Work ring_case(Pool& pool) {
  auto* x = pool.random<float>(kRing);
  auto* y = pool.take<float>(kReaders);
  return {[=] { ring<Index, COUNTED><<<kReaders / 256, 256>>>(y, x, Index(kRing), Index(97)); },
          output(y, kReaders)};
}

// ---- buckets of a table in shared memory ----

constexpr std::uint32_t kBuckets = 4096;
constexpr std::uint32_t kKeys = kMultiprocessors * 2048;

template <class Index, bool MASK>
__global__ void __launch_bounds__(512)
    lookups(std::uint32_t* y, const std::uint32_t* x, Index buckets) {
  __shared__ std::uint32_t table[kBuckets];
  for (std::uint32_t k = threadIdx.x; k < kBuckets; k += 512) table[k] = x[k];
  __syncthreads();
  const std::uint32_t i = blockIdx.x * 512 + threadIdx.x;
  std::uint32_t key = x[i];
#pragma unroll 2
  for (int k = 0; k < 512; ++k) {
    const Index place =
        MASK ? static_cast<Index>(key) & (buckets - 1) : static_cast<Index>(key) % buckets;
    key = key * 0x9e3779b1u + table[place];
  }
  y[i] = key;
}

template <class Index, bool MASK>
Work lookups_case(Pool& pool) {
  auto* x = pool.random<std::uint32_t>(kKeys);
  auto* y = pool.take<std::uint32_t>(kKeys);
  return {[=] { lookups<Index, MASK><<<kKeys / 512, 512>>>(y, x, Index(kBuckets)); },
          output(y, kKeys, 0)};
}

// ---- small matrices: their number, row and column from the element's number ----

constexpr std::uint32_t kMatrices = 40000;
constexpr std::uint32_t kRows = 24;

enum class Matrix { blocks, unsigned32, signed64 };

// y = x transposed, plus its diagonal in each row. BLOCKS: a block has one matrix.
template <Matrix FORM>
__global__ void __launch_bounds__(192)
    transpose(double* y, const double* x, std::uint32_t rows, std::uint32_t count) {
  using Index = std::conditional_t<FORM == Matrix::signed64, std::int64_t, std::uint32_t>;
#pragma unroll
  for (std::uint32_t k = 0; k < 3; ++k) {
    const std::uint32_t i = blockIdx.x * (kRows * kRows) + k * 192 + threadIdx.x;
    if (i >= count) return;
    Index first = blockIdx.x * (kRows * kRows);
    Index row = threadIdx.x / kRows + k * 8;
    Index column = threadIdx.x % kRows;
    if (FORM != Matrix::blocks) {
      const Index size = static_cast<Index>(rows) * rows;
      first = i / size * size;
      row = i % size / rows;
      column = i % rows;
    }
    y[i] = x[first + column * rows + row] + x[first + row * (rows + 1)];
  }
}

template <Matrix FORM>
Work transpose_case(Pool& pool) {
  constexpr std::uint32_t count = kMatrices * kRows * kRows;
  auto* x = pool.random<double>(count);
  auto* y = pool.take<double>(count);
  return {[=] { transpose<FORM><<<kMatrices, 192>>>(y, x, kRows, count); },
          output(y, count, 1e-12)};
}

// ---- rows of many lengths: a value for each group of columns ----

constexpr std::uint32_t kScaledRows = 8192;
constexpr std::uint32_t kColumns = 4096;

// GROUP: log2 of the columns that share a scale, if it is known; -1: divided at run time.
template <class Index, int GROUP>
__global__ void __launch_bounds__(256)
    unpack(__half* y, const std::uint8_t* x, const float* scales, Index columns, Index group) {
  const Index first = (static_cast<Index>(blockIdx.x) * 256 + threadIdx.x);
  const Index all = columns * kScaledRows / 4;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const Index i = first + k * all;
    const Index place =
        GROUP >= 0 ? i >> GROUP : (i / columns) * (columns / group) + i % columns / group;
    y[i] = __float2half_rn((x[i] - 128.0f) * scales[place]);
  }
}

template <class Index, int GROUP>
Work unpack_case(Pool& pool) {
  constexpr std::uint32_t count = kScaledRows * kColumns;
  auto* x = pool.random<std::uint8_t>(count);
  auto* scales = pool.random<float>(count / 64);
  auto* y = pool.take<__half>(count);
  return {[=] {
            unpack<Index, GROUP><<<count / 1024, 256>>>(y, x, scales, Index(kColumns), Index(64));
          },
          output(y, count, 1e-3)};
}

// ---- tempting: the division is the work ----

constexpr std::uint32_t kPairs = kMultiprocessors * 2048 * 2;

template <int ROUNDS>
__global__ void __launch_bounds__(256) common_divisors(std::uint32_t* y, const std::uint32_t* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  std::uint32_t a = x[i];
  std::uint32_t b = x[i + kPairs] | 1;
#pragma unroll 1
  for (int round = 0; round < ROUNDS && b != 0; ++round) {
    const std::uint32_t rest = a % b;
    a = b;
    b = rest;
  }
  y[i] = a;
}

Work divisors_case(Pool& pool) {
  auto* x = pool.random<std::uint32_t>(kPairs * 2);
  auto* y = pool.take<std::uint32_t>(kPairs);
  return {[=] { common_divisors<64><<<kPairs / 256, 256>>>(y, x); }, output(y, kPairs, 0)};
}

// ---- tempting: divisors that the compiler knows, and one division before a long loop ----

constexpr std::uint32_t kLooped = kMultiprocessors * 2048 * 8;

enum class Before { nothing, division };

template <Before BEFORE>
__global__ void __launch_bounds__(256)
    long_loop(float* y, const float* x, std::uint32_t width, std::uint32_t shift) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  const std::uint32_t row = BEFORE == Before::division ? i / width : i >> shift;
  const std::uint32_t column = BEFORE == Before::division ? i % width : i & (width - 1);
  y[i] = fma_chain(x[row] + x[column], 1024);
}

template <Before BEFORE>
Work long_loop_case(Pool& pool) {
  auto* x = pool.random<float>(kLooped);
  auto* y = pool.take<float>(kLooped);
  return {[=] { long_loop<BEFORE><<<kLooped / 256, 256>>>(y, x, 4096, 12); }, output(y, kLooped)};
}

constexpr std::uint32_t kChannels = 960;  // of 16 words of four values
constexpr std::uint32_t kSamples = 1024;
constexpr std::uint32_t kWide = kSamples * kChannels * 16;

enum class Wide { grid, constant, runtime };

template <Wide WIDE>
__global__ void __launch_bounds__(256)
    channels(float4* y, const float4* x, const float* scales, std::uint32_t count) {
  const std::uint32_t block = blockIdx.y * gridDim.x + blockIdx.x;
  const std::uint32_t i = block * 256 + threadIdx.x;
  std::uint32_t channel = blockIdx.x * 16 + threadIdx.x / 16;
  if (WIDE == Wide::constant) channel = i / 16 % kChannels;
  if (WIDE == Wide::runtime) channel = i / 16 % count;
  const float scale = scales[channel];
  float4 word = x[i];
  word.x *= scale;
  word.y *= scale;
  word.z *= scale;
  word.w *= scale;
  y[i] = word;
}

template <Wide WIDE>
Work channels_case(Pool& pool) {
  auto* x = pool.random<float>(std::size_t{kWide} * 4);
  auto* scales = pool.random<float>(kChannels);
  auto* y = pool.take<float>(std::size_t{kWide} * 4);
  return {[=] {
            channels<WIDE><<<dim3(kChannels / 16, kSamples), 256>>>(
                reinterpret_cast<float4*>(y), reinterpret_cast<const float4*>(x), scales,
                kChannels);
          },
          output(y, std::size_t{kWide} * 4)};
}

}  // namespace

void add_integer_division(Cases& cases) {
  const std::vector<std::string> divided = {"alu", "latency", "dram", "l1", "l2"};
  Shape strided(cases, kTool, "add_strided_f16", "f16", 1.0 * kElements, 4.0 * kElements, divided);
  strided.tempting("reciprocals", strided_case<Split::reciprocal>)
      .with({"narrow_loads", "long_scoreboard"});
  strided.defect("unsigned32", 0.5, strided_case<Split::unsigned32>)
      .with({"narrow_loads", "long_scoreboard"});
  strided.defect("signed32", 0.6, strided_case<Split::signed32>)
      .with({"narrow_loads", "long_scoreboard"});
  strided.defect("signed64", 1, strided_case<Split::signed64>)
      .with({"narrow_loads", "long_scoreboard"});

  const double pixels = 1.0 * kPictures * kSide * kSide;
  Shape windows(cases, kTool, "windows_f32", "f32", 3 * kTaps * pixels, 8 * pixels, divided);
  windows.clean("nested", windows_case<std::uint32_t, true>);
  windows.defect("unsigned32", 0.6, windows_case<std::uint32_t, false>);
  windows.defect("signed32", 0.6, windows_case<std::int32_t, false>);
  windows.defect("signed64", 1, windows_case<std::int64_t, false>);

  Shape ring(cases, kTool, "ring_f32", "f32", 2.0 * kReads * kReaders, 4.0 * kReaders, divided);
  ring.clean("counted", ring_case<std::uint32_t, true>);
  ring.defect("unsigned32", 0.6, ring_case<std::uint32_t, false>);
  ring.defect("signed32", 0.7, ring_case<std::int32_t, false>);
  ring.defect("signed64", 1, ring_case<std::int64_t, false>);

  // Words at random places of shared memory, whatever makes the place.
  Shape lookups(cases, kTool, "lookups_u32", "u32", 1024.0 * kKeys, 8.0 * kKeys, divided);
  lookups.clean("mask", lookups_case<std::uint32_t, true>).with({"bank_conflicts"});
  lookups.defect("unsigned32", 0.6, lookups_case<std::uint32_t, false>).with({"bank_conflicts"});
  lookups.defect("unsigned64", 1, lookups_case<std::uint64_t, false>).with({"bank_conflicts"});

  const double matrices = 1.0 * kMatrices * kRows * kRows;
  Shape transposed(cases, kTool, "transpose_f64", "f64", matrices, 16 * matrices, divided);
  transposed.clean("blocks", transpose_case<Matrix::blocks>);
  transposed.defect("unsigned32", 0.4, transpose_case<Matrix::unsigned32>);
  transposed.defect("signed64", 1, transpose_case<Matrix::signed64>);

  const double unpacked = 1.0 * kScaledRows * kColumns;
  Shape unpack(cases, kTool, "unpack_u8", "f32", 2 * unpacked, 3 * unpacked, divided);
  unpack.clean("shift", unpack_case<std::uint32_t, 6>).with({"narrow_loads", "long_scoreboard"});
  unpack.defect("unsigned32", 0.5, unpack_case<std::uint32_t, -1>)
      .with({"narrow_loads", "long_scoreboard"});
  unpack.defect("signed64", 1, unpack_case<std::int64_t, -1>)
      .with({"narrow_loads", "long_scoreboard"});

  Shape divisors(cases, kTool, "divisors_u32", "u32", 20.0 * kPairs, 12.0 * kPairs,
                 {"alu", "latency"});
  divisors.tempting("work", divisors_case).with({"divergent_warps"});  // by what they divide

  Shape loop(cases, kTool, "long_loop_f32", "f32", 2048.0 * kLooped, 8.0 * kLooped, {"alu"});
  loop.clean("mask", long_loop_case<Before::nothing>);
  loop.tempting("before_loop", long_loop_case<Before::division>);

  Shape channels(cases, kTool, "channels_f32", "f32", 4.0 * kWide, 32.0 * kWide, {"dram"});
  channels.clean("grid", channels_case<Wide::grid>);
  channels.tempting("known", channels_case<Wide::constant>);
  channels.tempting("runtime", channels_case<Wide::runtime>);
}

}  // namespace defects
