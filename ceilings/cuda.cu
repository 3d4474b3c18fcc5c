// The kernels behind the measured ceilings of a GPU. The worker builds this file as a cubin for the
// device and launches each kernel in a few shapes.
//
// Every kernel but kp_fill and kp_empty has the same parameters, and its first thread writes to
// *work what all threads do together: bytes moved, as a program would count them, or operations.
//   from, to  two buffers of `count` 16-byte elements
//   rounds    how often the work is done, at least once
// The values that are read and multiplied are random: zeros cost less power, so the device would
// show rates that no real data reach.
//
// Tensor ceilings: on sm_90a all but f64 are wgmma from shared memory, which alone reaches the
// rate of these cores; elsewhere, and f64 everywhere, they are mma.sync from registers. Before
// sm_80 the tensor kernels are empty and the worker does not ask for them.
#define PARAMETERS                                                                  \
  const uint4 *__restrict__ from, uint4 *__restrict__ to, unsigned long long count, \
      unsigned rounds, double *work
#define KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)

namespace {

using Index = unsigned long long;

constexpr int in_flight = 4;  // 16-byte accesses of a thread before it needs the first

__device__ unsigned scramble(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

__device__ unsigned own_number() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ void mix(uint4& sum, const uint4& value) {
  sum.x ^= value.x;
  sum.y ^= value.y;
  sum.z ^= value.z;
  sum.w ^= value.w;
}

// Keeps a result from being optimized away: the compiler cannot know that the one value which
// would be stored hardly ever comes.
__device__ void keep(unsigned value, uint4* to) {
  if (value == 0x2545f491u) {
    to->x = value;
  }
}

__device__ void keep(const uint4& value, uint4* to) {
  keep(value.x ^ value.y ^ value.z ^ value.w, to);
}

__device__ void say_work(double* work, double amount) {
  if (own_number() == 0) {
    *work = amount;
  }
}

__device__ double all_threads() {
  return static_cast<double>(gridDim.x) * blockDim.x;
}

// A block treats whole tiles; what is left of the buffer is not touched and not counted.
__device__ Index tile_elements() {
  return static_cast<Index>(blockDim.x) * in_flight;
}

__device__ double tiled_bytes(Index count, unsigned rounds, int buffers) {
  const Index tiles = count / tile_elements();
  return static_cast<double>(tiles * tile_elements() * sizeof(uint4)) * rounds * buffers;
}

struct Plain {
  static __device__ uint4 load(const uint4* from) { return *from; }
  static __device__ void store(uint4* to, const uint4& value) { *to = value; }
};

// Marked as not needed again.
struct Streaming {
  static __device__ uint4 load(const uint4* from) { return __ldcs(from); }
  static __device__ void store(uint4* to, const uint4& value) { __stcs(to, value); }
};

template <typename Access>
__device__ void write_all(uint4* to, Index count, unsigned rounds, double* work) {
  const Index tile = tile_elements();
  const unsigned seed = scramble(own_number());
  const uint4 value = {seed, seed + 1, ~seed, seed ^ 0x5555u};
  for (unsigned round = 0; round < rounds; ++round) {
    for (Index start = blockIdx.x * tile; start + tile <= count; start += gridDim.x * tile) {
      uint4* const at = to + start + threadIdx.x;
#pragma unroll
      for (int i = 0; i < in_flight; ++i) {
        Access::store(at + i * blockDim.x, value);
      }
    }
  }
  say_work(work, tiled_bytes(count, rounds, 1));
}

template <typename Access>
__device__ void copy_all(const uint4* from, uint4* to, Index count, unsigned rounds, double* work) {
  const Index tile = tile_elements();
  for (unsigned round = 0; round < rounds; ++round) {
    for (Index start = blockIdx.x * tile; start + tile <= count; start += gridDim.x * tile) {
      const Index at = start + threadIdx.x;
      uint4 values[in_flight];
#pragma unroll
      for (int i = 0; i < in_flight; ++i) {
        values[i] = Access::load(from + at + i * blockDim.x);
      }
#pragma unroll
      for (int i = 0; i < in_flight; ++i) {
        Access::store(to + at + i * blockDim.x, values[i]);
      }
    }
  }
  say_work(work, tiled_bytes(count, rounds, 2));
}

}  // namespace

KERNEL(256) kp_fill(uint4* to, unsigned long long count) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = own_number(); i < count; i += step) {
    const unsigned seed = scramble(static_cast<unsigned>(i));
    to[i] = {seed, scramble(seed), ~seed, scramble(~seed)};
  }
}

KERNEL(32) kp_empty() {}

KERNEL(1024) kp_read(PARAMETERS) {
  const Index tile = tile_elements();
  uint4 sum = {};
  for (unsigned round = 0; round < rounds; ++round) {
    for (Index start = blockIdx.x * tile; start + tile <= count; start += gridDim.x * tile) {
      const uint4* const at = from + start + threadIdx.x;
      uint4 values[in_flight];
#pragma unroll
      for (int i = 0; i < in_flight; ++i) {
        values[i] = Streaming::load(at + i * blockDim.x);
      }
#pragma unroll
      for (int i = 0; i < in_flight; ++i) {
        mix(sum, values[i]);
      }
    }
  }
  keep(sum, to);
  say_work(work, tiled_bytes(count, rounds, 1));
}

KERNEL(1024) kp_write(PARAMETERS) {
  write_all<Plain>(to, count, rounds, work);
}
KERNEL(1024) kp_write_stream(PARAMETERS) {
  write_all<Streaming>(to, count, rounds, work);
}
KERNEL(1024) kp_copy(PARAMETERS) {
  copy_all<Plain>(from, to, count, rounds, work);
}
KERNEL(1024) kp_copy_stream(PARAMETERS) {
  copy_all<Streaming>(from, to, count, rounds, work);
}

// Past the first-level caches (ld.global.cg). The tiles of all rounds are one sequence that the
// blocks take turns in, so they have the same to do, and each reads all parts of the buffer.
KERNEL(1024) kp_l2_read(PARAMETERS) {
  const Index tile = tile_elements();
  const Index tiles = count / tile;
  const Index step = gridDim.x % tiles;
  Index at_tile = blockIdx.x % tiles;
  uint4 sum = {};
  for (Index done = blockIdx.x; done < tiles * rounds; done += gridDim.x) {
    const uint4* const at = from + at_tile * tile + threadIdx.x;
    uint4 values[in_flight];
#pragma unroll
    for (int i = 0; i < in_flight; ++i) {
      values[i] = __ldcg(at + i * blockDim.x);
    }
#pragma unroll
    for (int i = 0; i < in_flight; ++i) {
      mix(sum, values[i]);
    }
    at_tile += step;
    at_tile -= at_tile >= tiles ? tiles : 0;
  }
  keep(sum, to);
  say_work(work, tiled_bytes(count, rounds, 1));
}

// Every warp reads 512 bytes in a row: no two threads of it want the same bank at once. Where a
// round starts moves on, so that no load can be left out; the loads of a round lie at fixed
// distances, because computing addresses would cost as much as loading.
KERNEL(1024) kp_shared_read(PARAMETERS) {
  constexpr unsigned starts = 1024;
  constexpr unsigned loads = 8;
  constexpr unsigned distance = 32;
  constexpr unsigned elements = starts + loads * distance;
  __shared__ uint4 data[elements];
  for (unsigned i = threadIdx.x; i < elements; i += blockDim.x) {
    data[i] = from[i];
  }
  __syncthreads();
  uint4 sum = {};
  unsigned start = threadIdx.x;
  for (unsigned round = 0; round < rounds; ++round) {
    const uint4* const at = data + start % starts;
#pragma unroll
    for (unsigned i = 0; i < loads; ++i) {
      mix(sum, at[i * distance]);
    }
    start += loads * distance;
  }
  keep(sum, to);
  say_work(work, all_threads() * rounds * loads * sizeof(uint4));
}

namespace {

constexpr int chains = 8;     // independent of each other, so that a thread never waits for one
constexpr int unrolled = 32;  // steps of every chain in a round; the loop itself costs 1 %

struct FmaF32 {
  using Value = float;
  static constexpr int operations = 2;
  static __device__ Value make(float x) { return x; }
  static __device__ Value step(Value a, Value b, Value c) { return fmaf(a, b, c); }
  static __device__ unsigned bits(Value x) { return __float_as_uint(x); }
};

struct FmaF64 {
  using Value = double;
  static constexpr int operations = 2;
  static __device__ Value make(float x) { return x; }
  static __device__ Value step(Value a, Value b, Value c) { return fma(a, b, c); }
  static __device__ unsigned bits(Value x) { return static_cast<unsigned>(__double2loint(x)); }
};

// Two halves in a word, as the instruction takes them.
struct FmaF16 {
  using Value = unsigned;
  static constexpr int operations = 4;
  static __device__ Value make(float x) {
    Value out;
    asm("{.reg .b16 h; cvt.rn.f16.f32 h, %1; mov.b32 %0, {h, h};}" : "=r"(out) : "f"(x));
    return out;
  }
  static __device__ Value step(Value a, Value b, Value c) {
    Value out;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(b), "r"(c));
    return out;
  }
  static __device__ unsigned bits(Value x) { return x; }
};

template <typename Type>
__device__ void fma_chains(uint4* to, unsigned rounds, double* work) {
  const float own = static_cast<float>(threadIdx.x % 32) / 64;
  const typename Type::Value factor = Type::make(-0.75f - own / 4);
  const typename Type::Value term = Type::make(0.5f + own);
  typename Type::Value sums[chains];
#pragma unroll
  for (int i = 0; i < chains; ++i) {
    sums[i] = Type::make(own + static_cast<float>(i));
  }
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
    for (int step = 0; step < unrolled; ++step) {
#pragma unroll
      for (int i = 0; i < chains; ++i) {
        sums[i] = Type::step(sums[i], factor, term);
      }
    }
  }
  unsigned seen = 0;
#pragma unroll
  for (int i = 0; i < chains; ++i) {
    seen ^= Type::bits(sums[i]);
  }
  keep(seen, to);
  say_work(work, all_threads() * rounds * chains * unrolled * Type::operations);
}

}  // namespace

KERNEL(256) kp_fma_f32(PARAMETERS) {
  fma_chains<FmaF32>(to, rounds, work);
}
KERNEL(256) kp_fma_f64(PARAMETERS) {
  fma_chains<FmaF64>(to, rounds, work);
}
KERNEL(256) kp_fma_f16(PARAMETERS) {
  fma_chains<FmaF16>(to, rounds, work);
}

// ---- Tensor cores -------------------------------------------------------------------------------

namespace {

// The operands of a type are random words, with the bits of `set` where `free` has none:
// magnitudes from 1/2 to 1 of either sign for floating types, all values for i8.
constexpr int warp_threads = 32;

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

#define TEN(d) d "0," d "1," d "2," d "3," d "4," d "5," d "6," d "7," d "8," d "9,"
#define SUMS                                                             \
  TEN("d")                                                               \
  TEN("d1")                                                              \
  TEN("d2")                                                              \
  TEN("d3")                                                              \
  TEN("d4") TEN("d5") TEN("d6") TEN("d7") TEN("d8") TEN("d9") TEN("d10") \
      TEN("d11") "d120,d121,d122,d123,d124,d125,d126,d127"
#define WGMMA(form, a, b, scales) \
  "wgmma.mma_async.sync.aligned.m64n256" form " {" SUMS "}, " a ", " b ", again" scales ";\n"
// The whole depth of the tiles: four slices of 32 bytes.
#define WGMMA_TILE(form, scales)  \
  WGMMA(form, "a0", "b0", scales) \
  WGMMA(form, "a1", "b1", scales) WGMMA(form, "a2", "b2", scales) WGMMA(form, "a3", "b3", scales)
// The first round sets the sums, the others add to them. The sums live in the assembly: nothing
// may touch them while products are under way.
#define WGMMA_ROUNDS(sum, form, scales) \
  asm volatile(                                                                       \
      "{\n"                                                                           \
      ".reg ." sum " d<128>;\n"                                                       \
      ".reg .b64 a<4>, b<4>;\n"                                                       \
      ".reg .b32 left;\n"                                                             \
      ".reg .pred again, more;\n"                                                     \
      "mov.b64 a0, %1;\n add.s64 a1, a0, 2;\n add.s64 a2, a0, 4;\n add.s64 a3, a0, 6;\n" \
      "mov.b64 b0, %2;\n add.s64 b1, b0, 2;\n add.s64 b2, b0, 4;\n add.s64 b3, b0, 6;\n" \
      "mov.b32 left, %3;\n"                                                           \
      "setp.ne.u32 again, left, left;\n"                                              \
      "next_round:\n"                                                                 \
      "wgmma.fence.sync.aligned;\n"                                                   \
      WGMMA_TILE(form, scales) WGMMA_TILE(form, scales)                               \
      "wgmma.commit_group.sync.aligned;\n"                                            \
      "wgmma.wait_group.sync.aligned 0;\n"                                            \
      "sub.u32 left, left, 1;\n"                                                      \
      "setp.ne.u32 more, left, 0;\n"                                                  \
      "setp.eq.u32 again, left, left;\n"                                              \
      "@more bra.uni next_round;\n"                                                   \
      "mov.b32 %0, d0;\n"                                                             \
      "}\n"                                                                           \
      : "=r"(seen)                                                                    \
      : "l"(a), "l"(b), "r"(rounds)                                                   \
      : "memory")
#define TENSOR_TYPE(name, free_bits, set_bits, depth_elements, sum, group_form, scales, warp_form, \
                    letter, Sum)                                                                   \
  struct name {                                                                                    \
    static constexpr unsigned free = free_bits;                                                    \
    static constexpr unsigned set = set_bits;                                                      \
    static constexpr int depth = depth_elements;                                                   \
    static __device__ unsigned multiply(Index a, Index b, unsigned rounds) {                       \
      unsigned seen;                                                                               \
      WGMMA_ROUNDS(sum, group_form, scales);                                                       \
      return seen;                                                                                 \
    }                                                                                              \
  }

constexpr int group_threads = 128;  // four warps, which multiply together
constexpr int row_bytes = 128;      // the depth of the tiles: four slices of 32 bytes
constexpr int rows_a = 64;
constexpr int rows_b = 256;
constexpr int products_a_round = 8;

// Of a tile with rows of 128 bytes along the depth, swizzled by 128 bytes: groups of eight rows lie
// 1024 bytes apart. A slice of the depth is 32 bytes further, 2 in units of the address.
__device__ Index descriptor(const void* tile) {
  const Index address = __cvta_generic_to_shared(tile);
  constexpr Index group_stride = 8 * row_bytes;
  return ((address & 0x3ffff) >> 4) | (Index{1} << 16) | ((group_stride >> 4) << 32) |
         (Index{1} << 62);
}

template <typename Type>
__device__ void tensor(uint4* to, unsigned rounds, double* work) {
  constexpr int words = (rows_a + rows_b) * row_bytes / 4;
  __shared__ __align__(1024) unsigned tiles[words];
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) {
    tiles[i] = (scramble(i) & Type::free) | Type::set;
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const Index a = descriptor(tiles);
  const Index b = descriptor(tiles + rows_a * row_bytes / 4);
  keep(Type::multiply(a, b, rounds), to);
  say_work(work, all_threads() / group_threads * rounds * products_a_round * 2.0 * rows_a * rows_b *
                     Type::depth);
}

#elif __CUDA_ARCH__ >= 800

constexpr int sums_a_warp = 8;

#define TENSOR_TYPE(name, free_bits, set_bits, depth_elements, sum, group_form, scales, warp_form, \
                    letter, SumType)                                                               \
  struct name {                                                                                    \
    using Sum = SumType;                                                                           \
    static constexpr unsigned free = free_bits;                                                    \
    static constexpr unsigned set = set_bits;                                                      \
    static constexpr int depth = depth_elements;                                                   \
    static __device__ void multiply(Sum (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) { \
      asm volatile("mma.sync.aligned.m16n8" warp_form                                              \
                   " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                        \
                   : "+" letter(d[0]), "+" letter(d[1]), "+" letter(d[2]), "+" letter(d[3])        \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));            \
    }                                                                                              \
  }

template <typename Type>
__device__ unsigned random_word(unsigned number) {
  return (scramble(threadIdx.x * 8 + number) & Type::free) | Type::set;
}

template <typename Type>
__device__ void tensor(uint4* to, unsigned rounds, double* work) {
  unsigned a[4];
  unsigned b[2];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    a[i] = random_word<Type>(i);
  }
  b[0] = random_word<Type>(4);
  b[1] = random_word<Type>(5);
  typename Type::Sum sums[sums_a_warp][4] = {};
  for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < sums_a_warp; ++i) {
      Type::multiply(sums[i], a, b);
    }
  }
  typename Type::Sum total = 0;
#pragma unroll
  for (int i = 0; i < sums_a_warp; ++i) {
    total += sums[i][0] + sums[i][1] + sums[i][2] + sums[i][3];
  }
  keep(static_cast<unsigned>(static_cast<int>(total)), to);
  say_work(work, all_threads() / warp_threads * rounds * sums_a_warp * 2.0 * 16 * 8 * Type::depth);
}

#else

#define TENSOR_TYPE(name, free_bits, set_bits, depth_elements, sum, group_form, scales, warp_form, \
                    letter, Sum)                                                                   \
  struct name {}

template <typename Type>
__device__ void tensor(uint4*, unsigned, double*) {}

#endif

TENSOR_TYPE(TensorF16, 0x83ff83ffu, 0x38003800u, 16, "f32", "k16.f32.f16.f16", ", 1, 1, 0, 0",
            "k16.row.col.f32.f16.f16.f32", "f", float);
TENSOR_TYPE(TensorBf16, 0x807f807fu, 0x3f003f00u, 16, "f32", "k16.f32.bf16.bf16", ", 1, 1, 0, 0",
            "k16.row.col.f32.bf16.bf16.f32", "f", float);
TENSOR_TYPE(TensorTf32, 0x807fe000u, 0x3f000000u, 8, "f32", "k8.f32.tf32.tf32", ", 1, 1",
            "k8.row.col.f32.tf32.tf32.f32", "f", float);
TENSOR_TYPE(TensorI8, 0xffffffffu, 0u, 32, "s32", "k32.s32.s8.s8", "", "k32.row.col.s32.s8.s8.s32",
            "r", int);

#if __CUDA_ARCH__ >= 900
constexpr int f64_rows = 16;
constexpr int f64_depth = 16;
#else
constexpr int f64_rows = 8;
constexpr int f64_depth = 4;
#endif
constexpr int f64_columns = 8;
// What a thread of the warp holds of each matrix.
constexpr int f64_share_a = f64_rows * f64_depth / warp_threads;
constexpr int f64_share_b = f64_columns * f64_depth / warp_threads;
constexpr int f64_share_d = f64_rows * f64_columns / warp_threads;

__device__ void multiply_f64(double (&d)[f64_share_d], const double (&a)[f64_share_a],
                             const double (&b)[f64_share_b]) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "
      "{%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
        "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#elif __CUDA_ARCH__ >= 800
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+d"(d[0]), "+d"(d[1])
               : "d"(a[0]), "d"(b[0]));
#endif
}

__device__ double random_double(unsigned number) {
  const unsigned bits = scramble(threadIdx.x * 16 + number);
  return __hiloint2double(static_cast<int>((bits & 0x800fffffu) | 0x3fe00000u),
                          static_cast<int>(scramble(bits)));
}

}  // namespace

KERNEL(256) kp_tensor_f16(PARAMETERS) {
  tensor<TensorF16>(to, rounds, work);
}
KERNEL(256) kp_tensor_bf16(PARAMETERS) {
  tensor<TensorBf16>(to, rounds, work);
}
KERNEL(256) kp_tensor_tf32(PARAMETERS) {
  tensor<TensorTf32>(to, rounds, work);
}
KERNEL(256) kp_tensor_i8(PARAMETERS) {
  tensor<TensorI8>(to, rounds, work);
}

KERNEL(256) kp_tensor_f64(PARAMETERS) {
  constexpr int sums_a_warp_f64 = 8;
  double a[f64_share_a];
  double b[f64_share_b];
#pragma unroll
  for (int i = 0; i < f64_share_a; ++i) {
    a[i] = random_double(i);
  }
#pragma unroll
  for (int i = 0; i < f64_share_b; ++i) {
    b[i] = random_double(f64_share_a + i);
  }
  double sums[sums_a_warp_f64][f64_share_d] = {};
  for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < sums_a_warp_f64; ++i) {
      multiply_f64(sums[i], a, b);
    }
  }
  double total = 0;
#pragma unroll
  for (int i = 0; i < sums_a_warp_f64; ++i) {
    total += sums[i][0] + sums[i][1];
  }
  keep(static_cast<unsigned>(__double2loint(total)), to);
  say_work(work, all_threads() / warp_threads * rounds * sums_a_warp_f64 * 2.0 * f64_rows *
                     f64_columns * f64_depth);
}
