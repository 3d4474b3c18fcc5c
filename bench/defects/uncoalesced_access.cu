// Uncoalesced access: lanes of a warp use few bytes of the sectors they fetch.
//
// Twins get the same values in another layout, so that they give the same results.
#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "uncoalesced_access";

// ---- copy with a stride ----

constexpr std::uint32_t kCopy = 1u << 26;

template <int STRIDE>
__device__ std::uint32_t strided(std::uint32_t i) {
  return (i % (kCopy / STRIDE)) * STRIDE + i / (kCopy / STRIDE);
}

template <int STRIDE>
__global__ void lay_out_strided(float* x, const float* values) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  x[strided<STRIDE>(i)] = values[i];
}

template <int STRIDE>
__global__ void copy_strided(float* y, const float* x) {
  const std::uint32_t base = blockIdx.x * 2048 + threadIdx.x;
  float value[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) value[k] = x[strided<STRIDE>(base + k * 256)];
#pragma unroll
  for (int k = 0; k < 8; ++k) y[base + k * 256] = value[k];
}

__global__ void copy_wide(float4* y, const float4* x) {
  const std::uint32_t base = blockIdx.x * 1024 + threadIdx.x;
  float4 value[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) value[k] = x[base + k * 256];
#pragma unroll
  for (int k = 0; k < 4; ++k) y[base + k * 256] = value[k];
}

template <int STRIDE>
Work copy_case(Pool& pool) {
  const float* values = pool.random<float>(kCopy);
  auto* x = pool.take<float>(kCopy);
  auto* y = pool.take<float>(kCopy);
  lay_out_strided<STRIDE><<<kCopy / 256, 256>>>(x, values);
  return {[=] { copy_strided<STRIDE><<<kCopy / 2048, 256>>>(y, x); }, output(y, kCopy, 0)};
}

Work copy_wide_case(Pool& pool) {
  auto* x = pool.random<float>(kCopy);
  pool.take<float>(kCopy);
  auto* y = pool.take<float>(kCopy);
  return {[=] {
            copy_wide<<<kCopy / 4096, 256>>>(reinterpret_cast<float4*>(y),
                                             reinterpret_cast<const float4*>(x));
          },
          output(y, kCopy, 0)};
}

// ---- transpose: columns written by lanes ----

constexpr int kRows = 4096;
constexpr int kColumns = 8192;

template <int THREAD_ROWS>
__global__ void transpose_tile(double* y, const double* x) {
  __shared__ double tile[32][33];
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += THREAD_ROWS) {
    tile[threadIdx.y + k][threadIdx.x] = x[(row + k) * kColumns + column];
  }
  __syncthreads();
  const int out_column = blockIdx.y * 32 + threadIdx.x;
  const int out_row = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += THREAD_ROWS) {
    y[(out_row + k) * kRows + out_column] = tile[threadIdx.x][threadIdx.y + k];
  }
}

// A warp covers WIDE columns and 32 / WIDE rows of the input.
template <int WIDE>
__global__ void transpose_direct(double* y, const double* x) {
  constexpr int tall = 256 / WIDE;
  const int column = blockIdx.x * WIDE + threadIdx.x % WIDE;
  const int row = blockIdx.y * tall * 4 + threadIdx.x / WIDE;
  double value[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) value[k] = x[(row + k * tall) * kColumns + column];
#pragma unroll
  for (int k = 0; k < 4; ++k) y[column * kRows + row + k * tall] = value[k];
}

template <int THREAD_ROWS>
Work transpose_case(Pool& pool) {
  constexpr std::size_t count = std::size_t{kRows} * kColumns;
  auto* x = pool.random<double>(count);
  auto* y = pool.take<double>(count);
  return {[=] {
            transpose_tile<THREAD_ROWS>
                <<<dim3(kColumns / 32, kRows / 32), dim3(32, THREAD_ROWS)>>>(y, x);
          },
          output(y, count, 0)};
}

template <int WIDE>
Work transpose_direct_case(Pool& pool) {
  constexpr std::size_t count = std::size_t{kRows} * kColumns;
  auto* x = pool.random<double>(count);
  auto* y = pool.take<double>(count);
  const dim3 grid(kColumns / WIDE, kRows / (256 / WIDE * 4));
  return {[=] { transpose_direct<WIDE><<<grid, 256>>>(y, x); }, output(y, count, 0)};
}

// ---- gather by index, in groups of neighbors ----

constexpr std::uint32_t kGather = 1u << 26;

// A bijection; neighbors stay together in groups of `group`.
__device__ std::uint32_t scattered(std::uint32_t i, std::uint32_t group) {
  const std::uint32_t place = (i / group) * 0x9e3779b1u + 12345u;
  return (place % (kGather / group)) * group + i % group;
}

// Lanes of a warp take other lanes' neighbors, of the same 128 bytes.
__device__ std::uint32_t within_line(std::uint32_t i) {
  return (i & ~31u) | ((i * 5 + 3) & 31u);
}

__global__ void lay_out_gather(std::uint32_t* index, std::uint32_t* x, const std::uint32_t* values,
                               std::uint32_t group) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t from = group == 32 ? within_line(i) : group == 0 ? i : scattered(i, group);
  index[i] = from;
  x[from] = values[i];
}

__global__ void gather(std::uint32_t* y, const std::uint32_t* x, const std::uint32_t* index) {
  const std::uint32_t base = blockIdx.x * 2048 + threadIdx.x;
  std::uint32_t from[8];
  std::uint32_t value[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) from[k] = index[base + k * 256];
#pragma unroll
  for (int k = 0; k < 8; ++k) value[k] = x[from[k]];
#pragma unroll
  for (int k = 0; k < 8; ++k) y[base + k * 256] = value[k];
}

// group 0: in order; 32: shuffled within a line; else scattered groups.
Prepare gather_case(std::uint32_t group) {
  return [group](Pool& pool) -> Work {
    const auto* values = pool.random<std::uint32_t>(kGather);
    auto* x = pool.take<std::uint32_t>(kGather);
    auto* index = pool.take<std::uint32_t>(kGather);
    auto* y = pool.take<std::uint32_t>(kGather);
    lay_out_gather<<<kGather / 256, 256>>>(index, x, values, group);
    return {[=] { gather<<<kGather / 2048, 256>>>(y, x, index); }, output(y, kGather, 0)};
  };
}

// ---- three fields of a record ----

constexpr std::uint32_t kRecords = 1u << 24;

__global__ void lay_out_records(float* records, const float* fields, int size) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int f = 0; f < 3; ++f) records[std::size_t{i} * size + f] = fields[f * kRecords + i];
}

template <int SIZE>
__global__ void lengths_of_records(float* y, const float* records) {
  const std::uint32_t base = blockIdx.x * 1024 + threadIdx.x;
  float field[4][3];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float* record = records + std::size_t{base + k * 256} * SIZE;
#pragma unroll
    for (int f = 0; f < 3; ++f) field[k][f] = record[f];
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    y[base + k * 256] =
        field[k][0] * field[k][0] + field[k][1] * field[k][1] + field[k][2] * field[k][2];
  }
}

template <int WIDTH>
__global__ void lengths_of_fields(float* y, const float* fields) {
  constexpr int turns = 4;
  const std::uint32_t base = blockIdx.x * blockDim.x * turns + threadIdx.x;
  Pack<float, WIDTH> field[turns][3];
#pragma unroll
  for (int k = 0; k < turns; ++k) {
#pragma unroll
    for (int f = 0; f < 3; ++f) {
      field[k][f] =
          reinterpret_cast<const Pack<float, WIDTH>*>(fields + f * kRecords)[base + k * blockDim.x];
    }
  }
#pragma unroll
  for (int k = 0; k < turns; ++k) {
    Pack<float, WIDTH> length;
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) {
      length.v[j] = field[k][0].v[j] * field[k][0].v[j] + field[k][1].v[j] * field[k][1].v[j] +
                    field[k][2].v[j] * field[k][2].v[j];
    }
    reinterpret_cast<Pack<float, WIDTH>*>(y)[base + k * blockDim.x] = length;
  }
}

template <int SIZE>
Work records_case(Pool& pool) {
  const float* fields = pool.random<float>(3 * kRecords);
  auto* y = pool.take<float>(kRecords);
  auto* records = pool.take<float>(std::size_t{kRecords} * SIZE);
  lay_out_records<<<kRecords / 256, 256>>>(records, fields, SIZE);
  return {[=] { lengths_of_records<SIZE><<<kRecords / 1024, 256>>>(y, records); },
          output(y, kRecords)};
}

template <int WIDTH>
Work fields_case(Pool& pool) {
  const float* fields = pool.random<float>(3 * kRecords);
  auto* y = pool.take<float>(kRecords);
  constexpr int threads = WIDTH == 1 ? 256 : 128;
  return {
      [=] { lengths_of_fields<WIDTH><<<kRecords / (threads * 4 * WIDTH), threads>>>(y, fields); },
      output(y, kRecords)};
}

// ---- tempting: a small table in L1, read across its rows between much arithmetic ----

constexpr int kTableRow = 64;
constexpr std::uint32_t kTableThreads = 132 * 2048 * 2;

__global__ void lay_out_table(float* table, const float* values, bool across) {
  const int lane = threadIdx.x;
  const int entry = blockIdx.x;
  table[across ? lane * kTableRow + entry : entry * 32 + lane] = values[entry * 32 + lane];
}

template <bool ACROSS>
__global__ void table_chain(float* y, const float* x, const float* table) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = threadIdx.x % 32;
  float value = x[i];
#pragma unroll 1
  for (int k = 0; k < 16; ++k) {
    const int entry = (k * 7) % kTableRow;
    const float factor = table[ACROSS ? lane * kTableRow + entry : entry * 32 + lane];
    value = fma_chain(value, 512) * 0.3f + factor * 0.3f;
  }
  y[i] = value;
}

template <bool ACROSS>
Work table_case(Pool& pool) {
  const float* x = pool.random<float>(kTableThreads);
  const float* values = pool.random<float>(kTableRow * 32);
  auto* table = pool.take<float>(kTableRow * 32);
  auto* y = pool.take<float>(kTableThreads);
  lay_out_table<<<kTableRow, 32>>>(table, values, ACROSS);
  return {[=] { table_chain<ACROSS><<<kTableThreads / 256, 256>>>(y, x, table); },
          output(y, kTableThreads)};
}

}  // namespace

void add_uncoalesced_access(Cases& cases) {
  Shape copy(cases, kTool, "copy_f32", "f32", 0, 8.0 * kCopy, {"dram"});
  copy.clean("stride1", copy_case<1>);
  copy.clean("wide", copy_wide_case);
  copy.defect("stride2", 0.2, copy_case<2>).with({"excess_traffic"});
  copy.defect("stride32", 1, copy_case<32>).with({"excess_traffic"}).in({"dram", "l2"});

  Shape transpose(cases, kTool, "transpose_f64", "f64", 0, 16.0 * kRows * kColumns, {"dram"});
  transpose.clean("tile8", transpose_case<8>);
  transpose.clean("tile16", transpose_case<16>);
  // Stores to many rows at once wait for each other long before a unit's bandwidth is used up.
  const std::vector<std::string> scattered = {"dram", "l2", "l1", "latency"};
  transpose.defect("lanes16", 0.5, transpose_direct_case<16>).in(scattered);
  transpose.defect("lanes32", 1, transpose_direct_case<32>).in(scattered);

  Shape gather(cases, kTool, "gather_u32", "u32", 0, 12.0 * kGather, {"dram"});
  gather.clean("in_order", gather_case(0));
  gather.tempting("within_line", gather_case(32));
  gather.defect("groups_of_4", 0.4, gather_case(4)).with({"excess_traffic"}).in({"dram", "l2"});
  gather.defect("single", 1, gather_case(1)).with({"excess_traffic"}).in({"dram", "l2"});

  Shape records(cases, kTool, "records_f32", "f32", 5.0 * kRecords, 16.0 * kRecords, {"dram"});
  records.clean("fields", fields_case<1>);
  records.clean("fields_wide", fields_case<4>);
  records.tempting("packed12", records_case<3>);
  records.defect("records32", 0.6, records_case<8>).with({"excess_traffic"});
  records.defect("records64", 1, records_case<16>).with({"excess_traffic"});

  Shape table(cases, kTool, "table_f32", "f32", 2.0 * kTableThreads * 16 * 512, 8.0 * kTableThreads,
              {"alu"});
  table.clean("along", table_case<false>);
  table.tempting("across", table_case<true>);
}

}  // namespace defects
