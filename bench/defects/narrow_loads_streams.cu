// Narrow loads in kernels that go through arrays from one end to the other: further shapes of
// narrow_loads.cu.
#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "narrow_loads";

// Blocks of 256 threads that take TURNS words each, 256 apart.
template <int TURNS>
__device__ __forceinline__ std::uint32_t first_word() {
  return blockIdx.x * (256 * TURNS) + threadIdx.x;
}

template <int LANES, int TURNS>
constexpr int blocks_for(std::size_t count) {
  return static_cast<int>(count / (256 * LANES * TURNS));
}

template <int LANES, class T>
__device__ __forceinline__ Pack<T, LANES> word_at(const T* data, std::uint32_t word) {
  return reinterpret_cast<const Pack<T, LANES>*>(data)[word];
}

template <int LANES, class T>
__device__ __forceinline__ void put_word(T* data, std::uint32_t word, const Pack<T, LANES>& value) {
  reinterpret_cast<Pack<T, LANES>*>(data)[word] = value;
}

// ---- y = x + residual ----

constexpr std::size_t kResidual = std::size_t{1} << 26;

template <int LANES, int TURNS>
__global__ void add_residual(__nv_bfloat16* y, const __nv_bfloat16* x,
                             const __nv_bfloat16* residual) {
  const std::uint32_t base = first_word<TURNS>();
  Pack<__nv_bfloat16, LANES> left[TURNS];
  Pack<__nv_bfloat16, LANES> right[TURNS];
#pragma unroll
  for (int k = 0; k < TURNS; ++k) {
    left[k] = word_at<LANES>(x, base + k * 256);
    right[k] = word_at<LANES>(residual, base + k * 256);
  }
#pragma unroll
  for (int k = 0; k < TURNS; ++k) {
#pragma unroll
    for (int j = 0; j < LANES; ++j) {
      from_float(left[k].v[j], to_float(left[k].v[j]) + to_float(right[k].v[j]));
    }
    put_word<LANES>(y, base + k * 256, left[k]);
  }
}

template <int LANES, int TURNS>
Work residual_case(Pool& pool) {
  auto* x = pool.random<__nv_bfloat16>(kResidual);
  auto* residual = pool.random<__nv_bfloat16>(kResidual);
  auto* y = pool.take<__nv_bfloat16>(kResidual);
  constexpr int blocks = blocks_for<LANES, TURNS>(kResidual);
  return {[=] { add_residual<LANES, TURNS><<<blocks, 256>>>(y, x, residual); },
          output(y, kResidual, 0)};
}

// ---- f32 to f16 ----

constexpr std::size_t kCast = std::size_t{1} << 26;

template <int LANES, int TURNS>
__global__ void cast_down(__half* y, const float* x) {
  const std::uint32_t base = first_word<TURNS>();
  Pack<float, LANES> value[TURNS];
#pragma unroll
  for (int k = 0; k < TURNS; ++k) value[k] = word_at<LANES>(x, base + k * 256);
#pragma unroll
  for (int k = 0; k < TURNS; ++k) {
    Pack<__half, LANES> less;
#pragma unroll
    for (int j = 0; j < LANES; ++j) less.v[j] = __float2half_rn(value[k].v[j]);
    put_word<LANES>(y, base + k * 256, less);
  }
}

template <int LANES, int TURNS>
Work cast_case(Pool& pool) {
  auto* x = pool.random<float>(kCast);
  auto* y = pool.take<__half>(kCast);
  constexpr int blocks = blocks_for<LANES, TURNS>(kCast);
  return {[=] { cast_down<LANES, TURNS><<<blocks, 256>>>(y, x); }, output(y, kCast, 0)};
}

// ---- bytes where a mask has its lowest bit set, zero elsewhere ----

constexpr std::size_t kMasked = 256 * kMiB;

template <int LANES, int TURNS>
__global__ void copy_masked(std::uint8_t* y, const std::uint8_t* x, const std::uint8_t* mask) {
  const std::uint32_t base = first_word<TURNS>();
  Pack<std::uint8_t, LANES> value[TURNS];
  Pack<std::uint8_t, LANES> keep[TURNS];
#pragma unroll
  for (int k = 0; k < TURNS; ++k) {
    value[k] = word_at<LANES>(x, base + k * 256);
    keep[k] = word_at<LANES>(mask, base + k * 256);
  }
#pragma unroll
  for (int k = 0; k < TURNS; ++k) {
#pragma unroll
    for (int j = 0; j < LANES; ++j) {
      if (keep[k].v[j] % 2 == 0) value[k].v[j] = 0;
    }
    put_word<LANES>(y, base + k * 256, value[k]);
  }
}

template <int LANES, int TURNS>
Work masked_case(Pool& pool) {
  auto* x = pool.random<std::uint8_t>(kMasked);
  auto* mask = pool.random<std::uint8_t>(kMasked);
  auto* y = pool.take<std::uint8_t>(kMasked);
  constexpr int blocks = blocks_for<LANES, TURNS>(kMasked);
  return {[=] { copy_masked<LANES, TURNS><<<blocks, 256>>>(y, x, mask); }, output(y, kMasked, 0)};
}

// ---- planes of red, green and blue to gray ----

constexpr std::size_t kPixels = 128 * kMiB;

template <int LANES>
__global__ void to_gray(std::uint8_t* y, const std::uint8_t* red, const std::uint8_t* green,
                        const std::uint8_t* blue) {
  const std::uint32_t word = first_word<1>();
  const auto r = word_at<LANES>(red, word);
  const auto g = word_at<LANES>(green, word);
  const auto b = word_at<LANES>(blue, word);
  Pack<std::uint8_t, LANES> gray;
#pragma unroll
  for (int j = 0; j < LANES; ++j) {
    gray.v[j] = static_cast<std::uint8_t>((77u * r.v[j] + 150u * g.v[j] + 29u * b.v[j]) >> 8);
  }
  put_word<LANES>(y, word, gray);
}

template <int LANES>
Work gray_case(Pool& pool) {
  auto* red = pool.random<std::uint8_t>(kPixels);
  auto* green = pool.random<std::uint8_t>(kPixels);
  auto* blue = pool.random<std::uint8_t>(kPixels);
  auto* y = pool.take<std::uint8_t>(kPixels);
  constexpr int blocks = blocks_for<LANES, 1>(kPixels);
  return {[=] { to_gray<LANES><<<blocks, 256>>>(y, red, green, blue); }, output(y, kPixels, 0)};
}

// ---- two pictures laid over one another ----

constexpr std::size_t kBlended = 192 * kMiB;

template <int LANES>
__global__ void blend(std::uint8_t* y, const std::uint8_t* front, const std::uint8_t* back,
                      std::uint32_t weight) {
  const std::uint32_t word = first_word<1>();
  auto value = word_at<LANES>(front, word);
  const auto behind = word_at<LANES>(back, word);
#pragma unroll
  for (int j = 0; j < LANES; ++j) {
    value.v[j] =
        static_cast<std::uint8_t>((value.v[j] * weight + behind.v[j] * (256 - weight)) >> 8);
  }
  put_word<LANES>(y, word, value);
}

template <int LANES>
Work blend_case(Pool& pool) {
  auto* front = pool.random<std::uint8_t>(kBlended);
  auto* back = pool.random<std::uint8_t>(kBlended);
  auto* y = pool.take<std::uint8_t>(kBlended);
  constexpr int blocks = blocks_for<LANES, 1>(kBlended);
  return {[=] { blend<LANES><<<blocks, 256>>>(y, front, back, 96); }, output(y, kBlended, 0)};
}

// ---- complex numbers, real and imaginary part side by side, times one of them ----

constexpr std::size_t kComplex = std::size_t{1} << 25;
constexpr float kFactorReal = 0.8f;
constexpr float kFactorImaginary = -0.6f;

__device__ __forceinline__ float2 scaled(float real, float imaginary) {
  return {fmaf(real, kFactorReal, -imaginary * kFactorImaginary),
          fmaf(real, kFactorImaginary, imaginary * kFactorReal)};
}

template <int NUMBERS, int TURNS>
__global__ void scale_complex(float* y, const float* x) {
  const std::uint32_t base = first_word<TURNS>();
  Pack<float, 2 * NUMBERS> value[TURNS];
#pragma unroll
  for (int k = 0; k < TURNS; ++k) value[k] = word_at<2 * NUMBERS>(x, base + k * 256);
#pragma unroll
  for (int k = 0; k < TURNS; ++k) {
#pragma unroll
    for (int j = 0; j < 2 * NUMBERS; j += 2) {
      const float2 z = scaled(value[k].v[j], value[k].v[j + 1]);
      value[k].v[j] = z.x;
      value[k].v[j + 1] = z.y;
    }
    put_word<2 * NUMBERS>(y, base + k * 256, value[k]);
  }
}

__global__ void scale_complex_by_parts(float* y, const float* x) {
  const std::uint32_t i = first_word<1>();
  const float2 z = scaled(x[2 * i], x[2 * i + 1]);
  y[2 * i] = z.x;
  y[2 * i + 1] = z.y;
}

template <int NUMBERS, int TURNS>
Work complex_case(Pool& pool) {
  auto* x = pool.random<float>(2 * kComplex);
  auto* y = pool.take<float>(2 * kComplex);
  constexpr int blocks = blocks_for<NUMBERS, TURNS>(kComplex);
  return {[=] { scale_complex<NUMBERS, TURNS><<<blocks, 256>>>(y, x); }, output(y, 2 * kComplex)};
}

Work complex_by_parts(Pool& pool) {
  auto* x = pool.random<float>(2 * kComplex);
  auto* y = pool.take<float>(2 * kComplex);
  constexpr int blocks = blocks_for<1, 1>(kComplex);
  return {[=] { scale_complex_by_parts<<<blocks, 256>>>(y, x); }, output(y, 2 * kComplex)};
}

// ---- tempting: half the width, twice the elements, enough of them at once ----

constexpr std::size_t kSum = std::size_t{1} << 25;

template <int LANES, int TURNS>
__global__ void weighted_sum(double* w, const double* x, const double* y) {
  const std::uint32_t base = first_word<TURNS>();
  Pack<double, LANES> left[TURNS];
  Pack<double, LANES> right[TURNS];
#pragma unroll
  for (int k = 0; k < TURNS; ++k) {
    left[k] = word_at<LANES>(x, base + k * 256);
    right[k] = word_at<LANES>(y, base + k * 256);
  }
#pragma unroll
  for (int k = 0; k < TURNS; ++k) {
#pragma unroll
    for (int j = 0; j < LANES; ++j) {
      left[k].v[j] = fma(2.0, left[k].v[j], -0.5 * right[k].v[j]);
    }
    put_word<LANES>(w, base + k * 256, left[k]);
  }
}

template <int LANES, int TURNS>
Work weighted_case(Pool& pool) {
  auto* x = pool.random<double>(kSum);
  auto* y = pool.random<double>(kSum);
  auto* w = pool.take<double>(kSum);
  constexpr int blocks = blocks_for<LANES, TURNS>(kSum);
  return {[=] { weighted_sum<LANES, TURNS><<<blocks, 256>>>(w, x, y); }, output(w, kSum)};
}

// ---- tempting: narrow loads before many steps of a hash ----

constexpr std::size_t kHashed = std::size_t{1} << 25;
constexpr int kRounds = 32;

template <int LANES>
__global__ void hash_words(std::uint32_t* y, const std::uint32_t* x) {
  const std::uint32_t word = first_word<1>();
  auto value = word_at<LANES>(x, word);
#pragma unroll 4
  for (int i = 0; i < kRounds; ++i) {
#pragma unroll
    for (int j = 0; j < LANES; ++j) {
      value.v[j] ^= value.v[j] >> 15;
      value.v[j] *= 0x2c1b3c6du;
      value.v[j] ^= value.v[j] >> 12;
      value.v[j] += 0x9e3779b9u;
    }
  }
  put_word<LANES>(y, word, value);
}

template <int LANES>
Work hash_case(Pool& pool) {
  auto* x = pool.random<std::uint32_t>(kHashed);
  auto* y = pool.take<std::uint32_t>(kHashed);
  constexpr int blocks = blocks_for<LANES, 1>(kHashed);
  return {[=] { hash_words<LANES><<<blocks, 256>>>(y, x); }, output(y, kHashed, 0)};
}

// ---- tempting: elements from all over an array, which no wider load brings ----

constexpr std::size_t kGathered = std::size_t{1} << 25;
constexpr std::uint32_t kGatherFrom = 1u << 26;

__global__ void gather_wide(float* y, const float* x, const std::uint32_t* index) {
  const std::uint32_t word = first_word<1>();
  const auto at = word_at<4>(index, word);
  Pack<float, 4> value;
#pragma unroll
  for (int j = 0; j < 4; ++j) value.v[j] = x[at.v[j]];
  put_word<4>(y, word, value);
}

__global__ void gather_narrow(float* y, const float* x, const std::uint32_t* index) {
  const std::uint32_t base = first_word<4>();
  float value[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) value[k] = x[index[base + k * 256]];
#pragma unroll
  for (int k = 0; k < 4; ++k) y[base + k * 256] = value[k];
}

template <class Kernel>
Prepare gather_case(Kernel* kernel) {
  return [kernel](Pool& pool) -> Work {
    auto* x = pool.random<float>(kGatherFrom);
    auto* index = pool.random_below(kGathered, kGatherFrom);
    auto* y = pool.take<float>(kGathered);
    constexpr int blocks = blocks_for<1, 4>(kGathered);
    return {[=] { kernel<<<blocks, 256>>>(y, x, index); }, output(y, kGathered, 0)};
  };
}

// ---- tempting: codes of four bits through a small table, and four times as much written ----

constexpr std::size_t kCodes = 128 * kMiB;  // bytes of two codes

template <bool IN_SHARED, int TURNS>
__global__ void decode(__half* y, const std::uint8_t* codes, const __half* table) {
  __shared__ __half near_table[16];
  if (IN_SHARED) {
    if (threadIdx.x < 16) near_table[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
  }
  const std::uint32_t base = first_word<TURNS>();
  Pack<std::uint8_t, 4> code[TURNS];
#pragma unroll
  for (int k = 0; k < TURNS; ++k) code[k] = word_at<4>(codes, base + k * 256);
#pragma unroll
  for (int k = 0; k < TURNS; ++k) {
    Pack<__half, 8> value;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int place = code[k].v[j / 2] >> (j % 2 * 4) & 15;
      value.v[j] = IN_SHARED ? near_table[place] : table[place];
    }
    put_word<8>(y, base + k * 256, value);
  }
}

template <bool IN_SHARED>
Work decode_case(Pool& pool) {
  auto* codes = pool.random<std::uint8_t>(kCodes);
  auto* table = pool.random<__half>(16);
  auto* y = pool.take<__half>(2 * kCodes);
  constexpr int blocks = blocks_for<4, 4>(kCodes);
  return {[=] { decode<IN_SHARED, 4><<<blocks, 256>>>(y, codes, table); },
          output(y, 2 * kCodes, 0)};
}

// ---- tempting: a byte makes a row of 64 numbers, whose writing takes the time ----

constexpr std::size_t kLabels = std::size_t{1} << 21;
constexpr int kKinds = 64;
constexpr int kLabelsOfBlock = 256;

// 16 threads write a row, 16 rows a turn.
template <bool IN_SHARED>
__global__ void one_hot(float* y, const std::uint8_t* labels) {
  __shared__ __align__(16) std::uint8_t near_labels[kLabelsOfBlock];
  const std::uint8_t* own = labels + blockIdx.x * kLabelsOfBlock;
  if (IN_SHARED) {
    if (threadIdx.x < kLabelsOfBlock / 16) {
      put_word<16>(near_labels, threadIdx.x, word_at<16>(own, threadIdx.x));
    }
    __syncthreads();
  }
  const int first = threadIdx.x % 16 * 4;
#pragma unroll
  for (int row = threadIdx.x / 16; row < kLabelsOfBlock; row += 16) {
    const int kind = (IN_SHARED ? near_labels[row] : own[row]) % kKinds;
    Pack<float, 4> value;
#pragma unroll
    for (int j = 0; j < 4; ++j) value.v[j] = first + j == kind ? 1.0f : 0.0f;
    put_word<4>(y, (blockIdx.x * kLabelsOfBlock + row) * (kKinds / 4) + first / 4, value);
  }
}

template <bool IN_SHARED>
Work one_hot_case(Pool& pool) {
  auto* labels = pool.random<std::uint8_t>(kLabels);
  auto* y = pool.take<float>(kLabels * kKinds);
  constexpr int blocks = kLabels / kLabelsOfBlock;
  return {[=] { one_hot<IN_SHARED><<<blocks, 256>>>(y, labels); }, output(y, kLabels * kKinds, 0)};
}

void add_defective(Cases& cases) {
  const std::vector<std::string> waits = {"long_scoreboard"};
  Shape residual(cases, kTool, "residual_bf16", "bf16", 1.0 * kResidual, 6.0 * kResidual, {"dram"});
  residual.clean("w16", residual_case<8, 2>);
  residual.clean("w8", residual_case<4, 2>);
  residual.defect("w4", 0.3, residual_case<2, 1>).with(waits).in({"latency", "dram"});
  residual.defect("w2", 0.8, residual_case<1, 1>).with(waits).in({"latency", "l1"});

  Shape cast(cases, kTool, "cast_f32_f16", "f32", 0, 6.0 * kCast, {"dram"});
  cast.clean("w16", cast_case<4, 4>);
  cast.defect("w8", 0.2, cast_case<2, 1>).with(waits).in({"latency", "dram"});
  cast.defect("w4", 0.5, cast_case<1, 1>).with(waits).in({"latency", "l1"});

  Shape masked(cases, kTool, "masked_copy_u8", "u8", 0, 3.0 * kMasked, {"dram"});
  masked.clean("w16", masked_case<16, 2>);
  masked.defect("w4", 0.4, masked_case<4, 1>).with(waits).in({"latency", "dram"});
  masked.defect("w1", 1, masked_case<1, 1>).with(waits).in({"latency", "l1", "alu"});

  Shape gray(cases, kTool, "gray_u8", "u8", 0, 4.0 * kPixels, {"dram"});
  gray.clean("w16", gray_case<16>);
  gray.defect("w4", 0.3, gray_case<4>).with(waits).in({"latency", "dram"});
  gray.defect("w2", 0.6, gray_case<2>).with(waits).in({"latency", "l1", "alu"});
  gray.defect("w1", 1, gray_case<1>).with(waits).in({"latency", "l1", "alu"});

  Shape over(cases, kTool, "blend_u8", "u8", 0, 3.0 * kBlended, {"dram"});
  over.clean("w16", blend_case<16>);
  over.defect("w2", 0.7, blend_case<2>).with(waits).in({"latency", "l1", "alu"});
  over.defect("w1", 1, blend_case<1>).with(waits).in({"latency", "l1", "alu"});

  Shape complex(cases, kTool, "complex_scale_f32", "f32", 6.0 * kComplex, 16.0 * kComplex,
                {"dram"});
  complex.clean("w16", complex_case<2, 4>);
  complex.defect("w8", 0.2, complex_case<1, 1>).with(waits).in({"latency", "dram"});
  complex.defect("w4", 0.5, complex_by_parts)
      .with({"long_scoreboard", "uncoalesced_access"})
      .in({"latency", "l1", "dram"});
}

void add_tempting(Cases& cases) {
  Shape sum(cases, kTool, "weighted_sum_f64", "f64", 3.0 * kSum, 24.0 * kSum, {"dram"});
  sum.clean("w16", weighted_case<2, 2>);
  sum.tempting("w8x2", weighted_case<1, 2>);

  Shape hash(cases, kTool, "hash_u32", "u32", 0, 8.0 * kHashed, {"alu"});
  hash.clean("w16", hash_case<4>);
  hash.tempting("w4", hash_case<1>);

  const std::vector<std::string> scattered = {"uncoalesced_access", "excess_traffic",
                                              "long_scoreboard"};
  Shape gather(cases, kTool, "gather_f32", "f32", 0, 12.0 * kGathered,
               {"dram", "l1", "l2", "latency"});
  gather.clean("w16", gather_case(gather_wide)).with(scattered);
  gather.tempting("w4x4", gather_case(gather_narrow)).with(scattered);

  Shape codes(cases, kTool, "decode_u4_f16", "f16", 0, 5.0 * kCodes, {"dram"});
  codes.clean("shared_table", decode_case<true>);
  codes.tempting("global_table", decode_case<false>).in({"dram", "l1"});

  Shape hot(cases, kTool, "one_hot_u8", "u8", 0, (4.0 * kKinds + 1) * kLabels, {"dram"});
  hot.clean("shared_labels", one_hot_case<true>);
  hot.tempting("w1", one_hot_case<false>);
}

}  // namespace

void add_narrow_loads_streams(Cases& cases) {
  add_defective(cases);
  add_tempting(cases);
}

}  // namespace defects
