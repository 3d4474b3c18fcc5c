// Products by mma.sync (HMMA) of a size that wgmma (HGMMA) does faster, against wgmma.
//
// The wgmma kernel: a warp brings tiles by TMA in the layout of 128-byte swizzle, two warp groups
// multiply them; a pair of barriers a stage says what is full and what may be written again.
#include "gemm.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "hmma_where_hgmma";

// ---- instructions ----

// wgmma belongs to sm_90a; a pass for plain sm_90 leaves it out.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define GROUP_ASM(...) asm volatile(__VA_ARGS__)
#else
#define GROUP_ASM(...)
#endif

// clang-format off
#define REGISTERS_64 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define REGISTERS_128 \
  REGISTERS_64 ", " \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define SUMS_8(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), \
                     "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define SUMS_32(d, i) SUMS_8(d, i), SUMS_8(d, i + 8), SUMS_8(d, i + 16), SUMS_8(d, i + 24)
#define SUMS_64(d) SUMS_32(d, 0), SUMS_32(d, 32)
#define SUMS_128(d) SUMS_64(d), SUMS_32(d, 64), SUMS_32(d, 96)

// d += a * b; the numbers at the end: scale of d, a and b, and for 16-bit types no transposition.
#define GROUP_STEP_256(shape, tail) \
  GROUP_ASM("wgmma.mma_async.sync.aligned.m64n256" shape " {" REGISTERS_128 "}, %128, %129, " tail \
            : SUMS_128(d) : "l"(a), "l"(b))
#define GROUP_STEP_128(shape, tail) \
  GROUP_ASM("wgmma.mma_async.sync.aligned.m64n128" shape " {" REGISTERS_64 "}, %64, %65, " tail \
            : SUMS_64(d) : "l"(a), "l"(b))
// clang-format on

constexpr int kGroupRows = 64;
constexpr int kRowBytes = 128;  // of a tile: 64 16-bit elements or 32 of TF32
constexpr int kStepBytes = 32;  // of k an instruction takes

using Matrix = std::uint64_t;  // a matrix in shared memory, as the instruction wants it described

__device__ __forceinline__ void group_step(float (&d)[128], Matrix a, Matrix b, __half /*type*/) {
  GROUP_STEP_256("k16.f32.f16.f16", "1, 1, 1, 0, 0;");
}
__device__ __forceinline__ void group_step(float (&d)[128], Matrix a, Matrix b,
                                           __nv_bfloat16 /*type*/) {
  GROUP_STEP_256("k16.f32.bf16.bf16", "1, 1, 1, 0, 0;");
}
__device__ __forceinline__ void group_step(float (&d)[128], Matrix a, Matrix b, float /*type*/) {
  GROUP_STEP_256("k8.f32.tf32.tf32", "1, 1, 1;");
}
__device__ __forceinline__ void group_step(float (&d)[64], Matrix a, Matrix b, __half /*type*/) {
  GROUP_STEP_128("k16.f32.f16.f16", "1, 1, 1, 0, 0;");
}
__device__ __forceinline__ void group_step(float (&d)[64], Matrix a, Matrix b,
                                           __nv_bfloat16 /*type*/) {
  GROUP_STEP_128("k16.f32.bf16.bf16", "1, 1, 1, 0, 0;");
}
__device__ __forceinline__ void group_step(float (&d)[64], Matrix a, Matrix b, float /*type*/) {
  GROUP_STEP_128("k8.f32.tf32.tf32", "1, 1, 1;");
}

#undef REGISTERS_64
#undef REGISTERS_128
#undef SUMS_8
#undef SUMS_32
#undef SUMS_64
#undef SUMS_128
#undef GROUP_STEP_256
#undef GROUP_STEP_128

// Rows of 128 bytes with 128-byte swizzle, eight of them a group of 1024 bytes. The tile begins at
// a multiple of 1024; steps along k add their bytes to the address.
__device__ __forceinline__ Matrix matrix_at(unsigned address) {
  constexpr Matrix swizzle_128 = Matrix{1} << 62;
  constexpr Matrix groups_apart = Matrix{1024 / 16} << 32;
  constexpr Matrix not_used = Matrix{1} << 16;
  return swizzle_128 | groups_apart | not_used | ((address & 0x3ffff) >> 4);
}

__device__ __forceinline__ void begin_steps() {
  GROUP_ASM("wgmma.fence.sync.aligned;" :: : "memory");
}
__device__ __forceinline__ void commit_steps() {
  GROUP_ASM("wgmma.commit_group.sync.aligned;" :: : "memory");
}
template <int LEFT>
__device__ __forceinline__ void wait_steps() {
  GROUP_ASM("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
}

__device__ __forceinline__ void make_barrier(unsigned barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
__device__ __forceinline__ void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void arrive_expecting(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void wait_for_phase(unsigned barrier, unsigned phase) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(barrier),
      "r"(phase)
      : "memory");
}

// Brings the box whose first element is (column, row) of the tensor.
__device__ __forceinline__ void bring_tile(unsigned to, const CUtensorMap& tensor, int column,
                                           int row, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
      "[%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(&tensor), "r"(column), "r"(row), "r"(barrier)
      : "memory");
}

// ---- the kernel: tiles of BM x BN, BM / 128 times 64 rows a warp group ----

constexpr int kGroups = 2;
constexpr int kGroupThreads = 128 * kGroups;

template <int BM, int BN, int STAGES>
struct GroupTile {
  static constexpr int bm = BM;
  static constexpr int bn = BN;
  static constexpr int stages = STAGES;
  static constexpr int blocks = BM / (kGroups * kGroupRows);  // of 64 rows, a warp group
  static constexpr int threads = kGroupThreads + 32;
  static constexpr int a_bytes = BM * kRowBytes;
  static constexpr int stage_bytes = (BM + BN) * kRowBytes;
  static constexpr int shared_bytes = 1024 + STAGES * (stage_bytes + 16);
};

template <class Tile>
struct Stages {
  unsigned tiles;

  __device__ Stages() {
    extern __shared__ __align__(1024) unsigned char group_memory[];
    tiles = (shared_address(group_memory) + 1023) / 1024 * 1024;
  }
  __device__ unsigned a(int stage) const { return tiles + stage * Tile::stage_bytes; }
  __device__ unsigned b(int stage) const { return a(stage) + Tile::a_bytes; }
  __device__ unsigned full(int stage) const {
    return tiles + Tile::stages * Tile::stage_bytes + stage * 16;
  }
  __device__ unsigned empty(int stage) const { return full(stage) + 8; }
};

template <class T, class Tile>
__device__ __forceinline__ void bring_tiles(const Stages<Tile>& stages, const CUtensorMap& a,
                                            const CUtensorMap& b, int tiles) {
  constexpr int columns = kRowBytes / static_cast<int>(sizeof(T));
  for (int t = 0; t < tiles; ++t) {
    const int s = t % Tile::stages;
    if (t >= Tile::stages) wait_for_phase(stages.empty(s), (t / Tile::stages - 1) % 2);
    arrive_expecting(stages.full(s), Tile::stage_bytes);
    bring_tile(stages.a(s), a, t * columns, blockIdx.y * Tile::bm, stages.full(s));
    bring_tile(stages.b(s), b, t * columns, blockIdx.x * Tile::bn, stages.full(s));
  }
}

template <class T, class Tile>
__device__ __forceinline__ void multiply_tile(float (&sum)[Tile::blocks][Tile::bn / 2],
                                              const Stages<Tile>& stages, int group, int t) {
  const int s = t % Tile::stages;
  const unsigned a = stages.a(s) + group * Tile::blocks * kGroupRows * kRowBytes;
  const unsigned b = stages.b(s);
  wait_for_phase(stages.full(s), t / Tile::stages % 2);
  begin_steps();
#pragma unroll
  for (int step = 0; step < kRowBytes; step += kStepBytes) {
#pragma unroll
    for (int i = 0; i < Tile::blocks; ++i) {
      group_step(sum[i], matrix_at(a + i * kGroupRows * kRowBytes + step), matrix_at(b + step),
                 T{});
    }
  }
  commit_steps();
}

// A tile is multiplied while the one before is waited for and given back.
template <class T, class Tile>
__device__ __forceinline__ void multiply_tiles(float (&sum)[Tile::blocks][Tile::bn / 2],
                                               const Stages<Tile>& stages, int group, int tiles) {
#pragma unroll
  for (auto& block : sum) {
#pragma unroll
    for (float& each : block) asm volatile("" : "+f"(each)::"memory");  // zero before any step
  }
  multiply_tile<T>(sum, stages, group, 0);
  for (int t = 1; t < tiles; ++t) {
    multiply_tile<T>(sum, stages, group, t);
    wait_steps<1>();
    if (threadIdx.x % 32 == 0) arrive(stages.empty((t - 1) % Tile::stages));
  }
  wait_steps<0>();
}

template <class T, class Tile>
__global__ void __launch_bounds__(Tile::threads, 1)
    group_product(float* c, const __grid_constant__ CUtensorMap a,
                  const __grid_constant__ CUtensorMap b, int n, int k) {
  const Stages<Tile> stages;
  if (threadIdx.x == 0) {
    for (int s = 0; s < Tile::stages; ++s) {
      make_barrier(stages.full(s), 1);
      make_barrier(stages.empty(s), kGroupThreads / 32);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  const int tiles = k * static_cast<int>(sizeof(T)) / kRowBytes;
  if (threadIdx.x >= kGroupThreads) {
    if (threadIdx.x == kGroupThreads) bring_tiles<T>(stages, a, b, tiles);
    return;
  }
  const int group = threadIdx.x / 128;
  float sum[Tile::blocks][Tile::bn / 2] = {};
  multiply_tiles<T>(sum, stages, group, tiles);

  const int lane = threadIdx.x % 32;
  const int row = blockIdx.y * Tile::bm + group * Tile::blocks * kGroupRows +
                  threadIdx.x % 128 / 32 * 16 + lane / 4;
  float* out = c + static_cast<std::size_t>(row) * n + blockIdx.x * Tile::bn + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < Tile::blocks; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::bn / 8; ++j) {
      float* place = out + static_cast<std::size_t>(i * kGroupRows) * n + j * 8;
      const float* d = sum[i] + j * 4;
      *reinterpret_cast<float2*>(place) = {d[0], d[1]};
      *reinterpret_cast<float2*>(place + 8 * static_cast<std::size_t>(n)) = {d[2], d[3]};
    }
  }
}

// ---- cases ----

CUtensorMapDataType tensor_type(__half /*type*/) {
  return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
}
CUtensorMapDataType tensor_type(__nv_bfloat16 /*type*/) {
  return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
}
CUtensorMapDataType tensor_type(float /*type*/) {
  return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
}

// The driver's function without linking the driver.
decltype(&cuTensorMapEncodeTiled) tensor_encoder() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  REQUIRE(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                           cudaEnableDefault, &found));
  REQUIRE(found == cudaDriverEntryPointSuccess ? cudaSuccess : cudaErrorNotSupported);
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
}

// Boxes of `box_rows` rows of 128 bytes.
template <class T>
CUtensorMap tensor_of(T* data, int rows, int columns, int box_rows) {
  const cuuint64_t size[2] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t pitch[1] = {columns * sizeof(T)};
  const cuuint32_t box[2] = {kRowBytes / sizeof(T), static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[2] = {1, 1};
  CUtensorMap map{};
  const CUresult result =
      tensor_encoder()(&map, tensor_type(T{}), 2, data, size, pitch, box, steps,
                       CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                       CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  REQUIRE(result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue);
  return map;
}

template <class T, class Tile>
Prepare group_case(Product size) {
  return [size](Pool& pool) -> Work {
    const Operands<T> o = take_operands<T>(pool, size);
    const CUtensorMap a = tensor_of(o.a, size.m, size.k, Tile::bm);
    const CUtensorMap b = tensor_of(o.b, size.n, size.k, Tile::bn);
    allow_shared(group_product<T, Tile>, Tile::shared_bytes);
    const dim3 grid(size.n / Tile::bn, size.m / Tile::bm);
    return product_work<T>(o, size, [=] {
      group_product<T, Tile>
          <<<grid, Tile::threads, Tile::shared_bytes>>>(o.c, a, b, size.n, size.k);
    });
  };
}

using Group128x256 = GroupTile<128, 256, 4>;
using Group256x128 = GroupTile<256, 128, 4>;
using Mma128x256 = MmaTile<128, 256, 2, 4, 64, 16, 4>;
using Mma32x128 = MmaTile<32, 128, 1, 4, 64, 16, 6>;

template <class T>
Shape add_large(Cases& cases, const char* name, const char* type, const Product& size) {
  Shape shape(cases, kTool, name, type, size.flops(), size.bytes(sizeof(T)),
              {"tensor", "l2", "latency"});
  shape.clean("wgmma_128x256", group_case<T, Group128x256>(size));
  shape.clean("wgmma_256x128", group_case<T, Group256x128>(size));
  shape.defect("mma_128x256", 0.4, mma_case<T, Mma128x256>(size))
      .in({"tensor", "l1", "l2", "latency"});
  shape.defect("mma_128x128", 0.6, mma_case<T, Mma128>(size)).in({"tensor", "l1", "l2", "latency"});
  return shape;
}

// Tiles so small are read again and again from L2.
template <class T>
void add_small_tiles(Shape& shape, const Product& size) {
  shape.defect("mma_64x64", 1, mma_case<T, Mma64>(size))
      .with({"excess_traffic"})
      .in({"tensor", "l1", "l2", "latency"});
}

template <class T, class Tile>
void add_tempting(Cases& cases, const char* name, const char* type, const Product& size,
                  std::vector<std::string> classes, std::vector<std::string> also) {
  Shape shape(cases, kTool, name, type, size.flops(), size.bytes(sizeof(T)), std::move(classes));
  shape.tempting("mma", mma_case<T, Tile>(size)).with(std::move(also));
}

}  // namespace

void add_hmma_where_hgmma(Cases& cases) {
  const Product square{4096, 4096, 4096};
  Shape half = add_large<__half>(cases, "square_f16", "f16", square);
  add_small_tiles<__half>(half, square);

  const Product wide{2048, 8192, 4096};
  Shape brain = add_large<__nv_bfloat16>(cases, "wide_bf16", "bf16", wide);
  add_small_tiles<__nv_bfloat16>(brain, wide);

  add_large<float>(cases, "square_tf32", "tf32", {4096, 4096, 2048});
  add_large<__half>(cases, "deep_f16", "f16", {2048, 4096, 8192});
  add_large<float>(cases, "deep_tf32", "tf32", {2048, 2048, 8192});
  add_large<__nv_bfloat16>(cases, "tall_bf16", "bf16", {16384, 1024, 2048});

  // Few rows: reading the other matrix is what takes the time; with two or three blocks of four
  // warps a multiprocessor that is latency as much as bandwidth.
  const std::vector<std::string> reading = {"dram", "l2", "latency"};
  add_tempting<__half, Mma32x128>(cases, "few_rows_f16", "f16", {32, 264 * 128, 4096}, reading, {});
  add_tempting<__nv_bfloat16, Mma32x128>(cases, "few_rows_bf16", "bf16", {32, 2 * 264 * 128, 4096},
                                         reading, {});
  // Shallow: writing the result takes the time.
  add_tempting<__nv_bfloat16, Mma128>(cases, "shallow_bf16", "bf16", {2048, 2048, 32, 16},
                                      {"dram", "l2", "latency"}, {});
  // Written once, hardly computed: either instruction waits for memory, and each block only once.
  const Product outer{8192, 8192, 64};
  Shape thin(cases, kTool, "outer_f16", "f16", outer.flops(), outer.bytes(2),
             {"dram", "l2", "latency"});
  thin.clean("wgmma_128x256", group_case<__half, Group128x256>(outer));
  thin.tempting("mma_128x128", mma_case<__half, Mma128>(outer));
  // A batch of small ones that are read once.
  add_tempting<__half, Mma64>(cases, "batch_f16", "f16", {64, 64, 512, 2640}, {"dram"}, {});
  // So small that a launch and the way through a few tiles are all of it.
  add_tempting<__half, Mma64>(cases, "small_f16", "f16", {512, 512, 512}, {"latency", "tail"},
                              {"block_shortage"});
}

}  // namespace defects
