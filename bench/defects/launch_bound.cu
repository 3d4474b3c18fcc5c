// Launch-bound sequences: many kernels so short that the GPU waits for the next one.
//
// A unit is the whole sequence. The clean twins do the same work in one or a few launches.
#include <chrono>

#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "launch_bound";

// ---- steps of one recurrence, cut into launches ----

constexpr int kCells = kMultiprocessors * 2048;

__global__ void __launch_bounds__(256) advance(float* y, const float* x, int steps) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  float value = x[i];
#pragma unroll 16
  for (int step = 0; step < steps; ++step) value = fmaf(value, 0.9999f, 0.0001f);
  y[i] = value;
}

void advance_by(int launches, int steps, float* y, const float* x, cudaStream_t stream) {
  for (int l = 0; l < launches; ++l) {
    advance<<<kCells / 256, 256, 0, stream>>>(y, l == 0 ? x : y, steps / launches);
  }
}

Prepare advance_case(int launches, int steps) {
  return [=](Pool& pool) -> Work {
    auto* x = pool.random<float>(kCells);
    auto* y = pool.take<float>(kCells);
    return {[=] { advance_by(launches, steps, y, x, nullptr); }, output(y, kCells)};
  };
}

// What a framework does on the host before each launch.
void dispatch(double microseconds) {
  const auto begin = std::chrono::steady_clock::now();
  const std::chrono::duration<double, std::micro> cost(microseconds);
  while (std::chrono::steady_clock::now() - begin < cost) {
  }
}

Prepare advance_dispatched_case(int launches, int steps, double dispatch_us) {
  return [=](Pool& pool) -> Work {
    auto* x = pool.random<float>(kCells);
    auto* y = pool.take<float>(kCells);
    return {[=] {
              for (int l = 0; l < launches; ++l) {
                dispatch(dispatch_us);
                advance_by(1, steps / launches, y, l == 0 ? x : y, nullptr);
              }
            },
            output(y, kCells)};
  };
}

// Four streams, a quarter of the cells each; what one launch leaves empty another fills.
Prepare advance_streams_case(int launches, int steps) {
  return [=](Pool& pool) -> Work {
    constexpr int quarter = kCells / 4;
    auto* x = pool.random<float>(kCells);
    auto* y = pool.take<float>(kCells);
    std::vector<cudaStream_t> streams(4);
    for (cudaStream_t& stream : streams) REQUIRE(cudaStreamCreate(&stream));
    Work work{[=] {
                for (int l = 0; l < launches; ++l) {
                  const int first = l % 4 * quarter;
                  const float* from = l < 4 ? x : y;
                  advance<<<quarter / 256, 256, 0, streams[l % 4]>>>(y + first, from + first,
                                                                     4 * steps / launches);
                }
              },
              output(y, kCells)};
    work.finish = [=] {
      for (cudaStream_t stream : streams) REQUIRE(cudaStreamDestroy(stream));
    };
    return work;
  };
}

// The same launches recorded once and started together.
Prepare advance_graph_case(int launches, int steps) {
  return [=](Pool& pool) -> Work {
    auto* x = pool.random<float>(kCells);
    auto* y = pool.take<float>(kCells);
    cudaStream_t stream{};
    cudaGraph_t graph{};
    cudaGraphExec_t ready{};
    REQUIRE(cudaStreamCreate(&stream));
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    advance_by(launches, steps, y, x, stream);
    REQUIRE(cudaStreamEndCapture(stream, &graph));
    REQUIRE(cudaGraphInstantiate(&ready, graph, 0));
    REQUIRE(cudaGraphDestroy(graph));
    REQUIRE(cudaStreamDestroy(stream));
    Work work{[=] { REQUIRE(cudaGraphLaunch(ready, nullptr)); }, output(y, kCells)};
    work.finish = [=] { REQUIRE(cudaGraphExecDestroy(ready)); };
    return work;
  };
}

// ---- rows, each with a scale of its own ----

constexpr int kRows = 1024;
constexpr int kRowWords = 8192;  // of 8 values

__global__ void __launch_bounds__(256)
    scale_rows(Pack<__half, 8>* y, const Pack<__half, 8>* x, const float* scales, int first_row) {
  const int row = first_row + blockIdx.y;
  const float scale = scales[row];
  const int base = row * kRowWords + blockIdx.x * 512 + threadIdx.x;
  Pack<__half, 8> word[2] = {x[base], x[base + 256]};
#pragma unroll
  for (int k = 0; k < 2; ++k) {
#pragma unroll
    for (int j = 0; j < 8; ++j) from_float(word[k].v[j], to_float(word[k].v[j]) * scale);
    y[base + k * 256] = word[k];
  }
}

Prepare rows_case(int rows_of_launch) {
  return [=](Pool& pool) -> Work {
    constexpr std::size_t count = std::size_t{kRows} * kRowWords * 8;
    auto* x = pool.random<__half>(count);
    auto* scales = pool.random<float>(kRows);
    auto* y = pool.take<__half>(count);
    return {[=] {
              for (int row = 0; row < kRows; row += rows_of_launch) {
                scale_rows<<<dim3(kRowWords / 512, rows_of_launch), 256>>>(
                    reinterpret_cast<Pack<__half, 8>*>(y),
                    reinterpret_cast<const Pack<__half, 8>*>(x), scales, row);
              }
            },
            output(y, count, 0)};
  };
}

// ---- the step of an optimizer over many small tensors ----

constexpr int kTensors = 512;
constexpr int kTensorWords = 8192;  // of four values

struct Moments {
  float4* parameter;
  const float4* gradient;
  float4* first;
  float4* second;
};

__device__ void adapt(float& parameter, float gradient, float& first, float& second) {
  first = 0.9f * first + 0.1f * gradient;
  second = 0.999f * fabsf(second) + 0.001f * gradient * gradient;
  parameter -= 0.001f * first * rsqrtf(second + 1e-8f);
}

__global__ void __launch_bounds__(256) adapt_tensors(Moments moments, int first_tensor) {
  const int i = (first_tensor + blockIdx.y) * kTensorWords + blockIdx.x * 256 + threadIdx.x;
  float4 parameter = moments.parameter[i];
  const float4 gradient = moments.gradient[i];
  float4 first = moments.first[i];
  float4 second = moments.second[i];
  adapt(parameter.x, gradient.x, first.x, second.x);
  adapt(parameter.y, gradient.y, first.y, second.y);
  adapt(parameter.z, gradient.z, first.z, second.z);
  adapt(parameter.w, gradient.w, first.w, second.w);
  moments.parameter[i] = parameter;
  moments.first[i] = first;
  moments.second[i] = second;
}

Prepare tensors_case(int tensors_of_launch) {
  return [=](Pool& pool) -> Work {
    constexpr std::size_t count = std::size_t{kTensors} * kTensorWords * 4;
    auto* parameter = pool.random<float>(count);
    Moments moments{};
    moments.parameter = reinterpret_cast<float4*>(parameter);
    moments.gradient = reinterpret_cast<const float4*>(pool.random<float>(count));
    moments.first = reinterpret_cast<float4*>(pool.random<float>(count));
    moments.second = reinterpret_cast<float4*>(pool.random<float>(count));
    return {[=] {
              for (int tensor = 0; tensor < kTensors; tensor += tensors_of_launch) {
                adapt_tensors<<<dim3(kTensorWords / 256, tensors_of_launch), 256>>>(moments,
                                                                                    tensor);
              }
            },
            output(parameter, count)};
  };
}

// ---- many small arrays packed into one ----

constexpr int kArrays = 1024;
constexpr int kArrayWords = 8192;  // of 16 bytes

__global__ void __launch_bounds__(256) pack(uint4* y, const uint4* x, int first_array) {
  const int array = first_array + blockIdx.y;
  const int place = blockIdx.x * 512 + threadIdx.x;
  // Arrays lie in the pack in the opposite order.
  const uint4* from = x + array * kArrayWords + place;
  uint4* to = y + (kArrays - 1 - array) * kArrayWords + place;
  const uint4 word[2] = {from[0], from[256]};
  to[0] = word[0];
  to[256] = word[1];
}

Prepare pack_case(int arrays_of_launch) {
  return [=](Pool& pool) -> Work {
    constexpr std::size_t count = std::size_t{kArrays} * kArrayWords * 16;
    auto* x = pool.random<std::uint8_t>(count);
    auto* y = pool.take<std::uint8_t>(count);
    return {[=] {
              for (int array = 0; array < kArrays; array += arrays_of_launch) {
                pack<<<dim3(kArrayWords / 512, arrays_of_launch), 256>>>(
                    reinterpret_cast<uint4*>(y), reinterpret_cast<const uint4*>(x), array);
              }
            },
            output(y, count, 0)};
  };
}

}  // namespace

void add_launch_bound(Cases& cases) {
  const std::vector<std::string> small = {"block_shortage"};
  constexpr int steps = 8192;
  Shape chain(cases, kTool, "recurrence_f32", "f32", 2.0 * steps * kCells, 8.0 * kCells, {"alu"});
  chain.clean("launches1", advance_case(1, steps));
  chain.clean("launches2", advance_case(2, steps));
  chain.defect("launches64", 0.6, advance_case(64, steps)).in({"launch"});
  chain.defect("launches256", 1, advance_case(256, steps)).in({"launch"});

  const double row_values = 8.0 * kRows * kRowWords;
  Shape rows(cases, kTool, "scale_rows_f16", "f16", row_values, 4.0 * row_values, {"dram"});
  rows.clean("rows1024", rows_case(1024));
  rows.clean("rows512", rows_case(512));
  rows.defect("rows16", 0.5, rows_case(16)).in({"launch"});
  rows.defect("rows1", 1, rows_case(1)).with(small).in({"launch"});

  const double weights = 4.0 * kTensors * kTensorWords;
  Shape tensors(cases, kTool, "optimizer_f32", "f32", 12.0 * weights, 28.0 * weights, {"dram"});
  tensors.clean("tensors512", tensors_case(512));
  tensors.clean("tensors256", tensors_case(256));
  tensors.defect("tensors8", 0.5, tensors_case(8)).in({"launch"});
  tensors.defect("tensors1", 1, tensors_case(1)).with(small).in({"launch"});

  const double packed = 16.0 * kArrays * kArrayWords;
  Shape packs(cases, kTool, "pack_u8", "u8", 0, 2.0 * packed, {"dram"});
  packs.clean("arrays1024", pack_case(1024));
  packs.clean("arrays512", pack_case(512));
  packs.defect("arrays8", 0.6, pack_case(8)).in({"launch"});
  packs.defect("arrays1", 1, pack_case(1)).with(small).in({"launch"});

  constexpr int many = 16 * steps;
  Shape longer(cases, kTool, "long_recurrence_f32", "f32", 2.0 * many * kCells, 8.0 * kCells,
               {"alu"});
  longer.clean("launches2", advance_case(2, many));
  longer.tempting("launches32", advance_case(32, many));
  longer.tempting("graph32", advance_graph_case(32, many));
  longer.tempting("dispatch20", advance_dispatched_case(32, many, 20));
  longer.tempting("streams4", advance_streams_case(64, many)).with(small);

  // About 2 µs each.
  constexpr int brief = 96 * 64;
  const std::vector<std::string> waiting = {"launch", "latency", "tail", "alu"};
  Shape tiny(cases, kTool, "tiny_f32", "f32", 2.0 * brief * kCells, 8.0 * kCells, waiting);
  tiny.tempting("graph96", advance_graph_case(96, brief));
  tiny.tempting("graph48", advance_graph_case(48, brief));
  tiny.defect("dispatch4", 0.6, advance_dispatched_case(96, brief, 4)).in({"launch"});
  tiny.defect("dispatch10", 1, advance_dispatched_case(96, brief, 10)).in({"launch"});

  // About 14 µs each: hidden as long as the host needs less.
  constexpr int medium = 40 * 1280;
  Shape middle(cases, kTool, "medium_f32", "f32", 2.0 * medium * kCells, 8.0 * kCells, {"alu"});
  middle.clean("graph40", advance_graph_case(40, medium));
  middle.tempting("dispatch3", advance_dispatched_case(40, medium, 3));
  middle.defect("dispatch18", 0.3, advance_dispatched_case(40, medium, 18)).in({"launch", "alu"});
  middle.defect("dispatch30", 0.7, advance_dispatched_case(40, medium, 30)).in({"launch"});
}

}  // namespace defects
