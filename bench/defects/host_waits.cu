// Host waits: synchronization, copies and allocation on the critical path between kernels.
//
// A unit is the whole sequence. Streams are blocking ones, so events of the default stream lie
// before and after all of it.
#include <new>

#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "host_waits";

constexpr int kCells = kMultiprocessors * 2048;

__global__ void __launch_bounds__(256) advance(float* y, const float* x, int steps) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  float value = x[i];
#pragma unroll 16
  for (int step = 0; step < steps; ++step) value = fmaf(value, 0.9999f, 0.0001f);
  y[i] = value;
}

void advance_once(float* y, const float* x, int steps) {
  advance<<<kCells / 256, 256>>>(y, x, steps);
}

// ---- the host waits after every `period` kernels; 0: never ----

Prepare sync_case(int kernels, int steps, int period) {
  return [=](Pool& pool) -> Work {
    auto* x = pool.random<float>(kCells);
    auto* y = pool.take<float>(kCells);
    return {[=] {
              for (int k = 0; k < kernels; ++k) {
                advance_once(y, k == 0 ? x : y, steps);
                if (period > 0 && (k + 1) % period == 0) REQUIRE(cudaDeviceSynchronize());
              }
            },
            output(y, kCells)};
  };
}

enum class Wait { stream, event, two_behind };

// After every kernel; two_behind: for the kernel before the one before, so that the GPU has work.
Prepare wait_case(int kernels, int steps, Wait wait) {
  return [=](Pool& pool) -> Work {
    auto* x = pool.random<float>(kCells);
    auto* y = pool.take<float>(kCells);
    std::vector<cudaEvent_t> ended(3);
    for (cudaEvent_t& event : ended) {
      REQUIRE(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    }
    Work work{[=] {
                for (int k = 0; k < kernels; ++k) {
                  advance_once(y, k == 0 ? x : y, steps);
                  if (wait == Wait::stream) {
                    REQUIRE(cudaStreamSynchronize(nullptr));
                    continue;
                  }
                  REQUIRE(cudaEventRecord(ended[k % 3]));
                  const int waited_for = wait == Wait::event ? k : k - 2;
                  if (waited_for >= 0) REQUIRE(cudaEventSynchronize(ended[waited_for % 3]));
                }
              },
              output(y, kCells)};
    work.finish = [=] {
      for (cudaEvent_t event : ended) REQUIRE(cudaEventDestroy(event));
    };
    return work;
  };
}

// ---- the host reads one value after every `period` kernels ----

Prepare scalar_case(int kernels, int steps, int period) {
  return [=](Pool& pool) -> Work {
    auto* x = pool.random<float>(kCells);
    auto* y = pool.take<float>(kCells);
    return {[=] {
              for (int k = 0; k < kernels; ++k) {
                advance_once(y, k == 0 ? x : y, steps);
                if ((k + 1) % period != 0) continue;
                float value = 0;
                REQUIRE(cudaMemcpy(&value, y, sizeof(value), cudaMemcpyDeviceToHost));
                if (value > 1e30f) return;  // diverged; never so
              }
            },
            output(y, kCells)};
  };
}

// The values go to pinned memory behind the kernels, and nobody waits for them.
Prepare scalar_async_case(int kernels, int steps) {
  return [=](Pool& pool) -> Work {
    auto* x = pool.random<float>(kCells);
    auto* y = pool.take<float>(kCells);
    float* values = nullptr;
    REQUIRE(cudaMallocHost(&values, kernels * sizeof(float)));
    Work work{[=] {
                for (int k = 0; k < kernels; ++k) {
                  advance_once(y, k == 0 ? x : y, steps);
                  if ((k + 1) % 16 != 0) continue;
                  REQUIRE(cudaMemcpyAsync(values + k, y, sizeof(float), cudaMemcpyDeviceToHost));
                }
              },
              output(y, kCells)};
    work.finish = [=] { REQUIRE(cudaFreeHost(values)); };
    return work;
  };
}

// ---- chunks that come from the host, or go back to it ----

constexpr int kChunks = 8;
constexpr int kChunk = 1 << 20;  // values
constexpr int kChunkSteps = 8192;

template <class T>
__global__ void __launch_bounds__(256) chew(T* y, const T* x) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  float value = to_float(x[i]);
#pragma unroll 16
  for (int step = 0; step < kChunkSteps; ++step) value = fmaf(value, 0.9999f, 0.0001f);
  from_float(y[i], value);
}

enum class Transfer { pageable, pinned, overlapped };

// What a sequence with copies needs beside the pool.
template <class T>
struct Lanes {
  T* host = nullptr;
  bool pinned = false;
  cudaStream_t copy{};
  cudaStream_t work{};
  std::vector<cudaEvent_t> copied;
  std::vector<cudaEvent_t> done;
};

template <class T>
Lanes<T> open_lanes(Transfer transfer) {
  Lanes<T> lanes;
  const std::size_t size = std::size_t{kChunks} * kChunk * sizeof(T);
  lanes.pinned = transfer != Transfer::pageable;
  if (lanes.pinned) {
    REQUIRE(cudaMallocHost(&lanes.host, size));
  } else {
    lanes.host = static_cast<T*>(::operator new(size));
  }
  REQUIRE(cudaStreamCreate(&lanes.copy));
  REQUIRE(cudaStreamCreate(&lanes.work));
  for (int c = 0; c < kChunks; ++c) {
    lanes.copied.emplace_back();
    lanes.done.emplace_back();
    REQUIRE(cudaEventCreateWithFlags(&lanes.copied.back(), cudaEventDisableTiming));
    REQUIRE(cudaEventCreateWithFlags(&lanes.done.back(), cudaEventDisableTiming));
  }
  return lanes;
}

template <class T>
void close_lanes(const Lanes<T>& lanes) {
  for (cudaEvent_t event : lanes.copied) REQUIRE(cudaEventDestroy(event));
  for (cudaEvent_t event : lanes.done) REQUIRE(cudaEventDestroy(event));
  REQUIRE(cudaStreamDestroy(lanes.copy));
  REQUIRE(cudaStreamDestroy(lanes.work));
  if (lanes.pinned) {
    REQUIRE(cudaFreeHost(lanes.host));
  } else {
    ::operator delete(lanes.host);
  }
}

// Chunks come into `buffers` places on the device in turn.
void upload(const Lanes<__half>& lanes, Transfer transfer, int buffers, __half* x, __half* y) {
  constexpr std::size_t size = kChunk * sizeof(__half);
  for (int c = 0; c < kChunks; ++c) {
    __half* place = x + std::size_t(c % buffers) * kChunk;
    const __half* from = lanes.host + std::size_t(c) * kChunk;
    __half* out = y + std::size_t(c) * kChunk;
    if (transfer != Transfer::overlapped) {
      REQUIRE(cudaMemcpy(place, from, size, cudaMemcpyHostToDevice));
      chew<<<kChunk / 256, 256>>>(out, place);
      continue;
    }
    if (c >= buffers) REQUIRE(cudaStreamWaitEvent(lanes.copy, lanes.done[c - buffers]));
    REQUIRE(cudaMemcpyAsync(place, from, size, cudaMemcpyHostToDevice, lanes.copy));
    REQUIRE(cudaEventRecord(lanes.copied[c], lanes.copy));
    REQUIRE(cudaStreamWaitEvent(lanes.work, lanes.copied[c]));
    chew<<<kChunk / 256, 256, 0, lanes.work>>>(out, place);
    REQUIRE(cudaEventRecord(lanes.done[c], lanes.work));
  }
}

Prepare upload_case(Transfer transfer, int buffers = 2) {
  return [=](Pool& pool) -> Work {
    constexpr std::size_t count = std::size_t{kChunks} * kChunk;
    auto* values = pool.random<__half>(count);
    auto* x = pool.take<__half>(count);
    auto* y = pool.take<__half>(count);
    const Lanes<__half> lanes = open_lanes<__half>(transfer);
    REQUIRE(cudaMemcpy(lanes.host, values, count * sizeof(__half), cudaMemcpyDeviceToHost));
    Work work{[=] { upload(lanes, transfer, buffers, x, y); }, output(y, count)};
    work.finish = [=] { close_lanes(lanes); };
    return work;
  };
}

void download(const Lanes<float>& lanes, Transfer transfer, const float* x, float* y) {
  constexpr std::size_t size = kChunk * sizeof(float);
  for (int c = 0; c < kChunks; ++c) {
    const float* from = x + std::size_t(c) * kChunk;
    float* out = y + std::size_t(c) * kChunk;
    float* place = lanes.host + std::size_t(c) * kChunk;
    if (transfer != Transfer::overlapped) {
      chew<<<kChunk / 256, 256>>>(out, from);
      REQUIRE(cudaMemcpy(place, out, size, cudaMemcpyDeviceToHost));
      continue;
    }
    chew<<<kChunk / 256, 256, 0, lanes.work>>>(out, from);
    REQUIRE(cudaEventRecord(lanes.done[c], lanes.work));
    REQUIRE(cudaStreamWaitEvent(lanes.copy, lanes.done[c]));
    REQUIRE(cudaMemcpyAsync(place, out, size, cudaMemcpyDeviceToHost, lanes.copy));
  }
}

Prepare download_case(Transfer transfer) {
  return [=](Pool& pool) -> Work {
    constexpr std::size_t count = std::size_t{kChunks} * kChunk;
    auto* x = pool.random<float>(count);
    auto* y = pool.take<float>(count);
    const Lanes<float> lanes = open_lanes<float>(transfer);
    Work work{[=] { download(lanes, transfer, x, y); }, output(y, count)};
    work.finish = [=] { close_lanes(lanes); };
    return work;
  };
}

// The results stay where they are.
Work stay_case(Pool& pool) {
  constexpr std::size_t count = std::size_t{kChunks} * kChunk;
  auto* x = pool.random<float>(count);
  auto* y = pool.take<float>(count);
  return {[=] {
            for (int c = 0; c < kChunks; ++c) {
              chew<<<kChunk / 256, 256>>>(y + std::size_t(c) * kChunk, x + std::size_t(c) * kChunk);
            }
          },
          output(y, count)};
}

// ---- a workspace taken and given back around every `period` kernels; 0: kept ----

constexpr std::size_t kWorkspace = 64 * kMiB;

__global__ void __launch_bounds__(256)
    through_workspace(std::uint32_t* y, std::uint32_t* workspace, int steps) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  std::uint32_t value = y[i] + 1u;
  for (int step = 0; step < steps; ++step) value = (value ^ value >> 13) * 1664525u + 17u;
  workspace[i] = value;
  y[i] = value;
}

Prepare workspace_case(int kernels, int steps, int period) {
  return [=](Pool& pool) -> Work {
    auto* y = pool.random<std::uint32_t>(kCells);
    auto* kept = pool.take<std::uint32_t>(kWorkspace / 4);
    return {[=] {
              std::uint32_t* workspace = kept;
              for (int k = 0; k < kernels; ++k) {
                if (period > 0 && k % period == 0) REQUIRE(cudaMalloc(&workspace, kWorkspace));
                through_workspace<<<kCells / 256, 256>>>(y, workspace, steps);
                if (period > 0 && (k + 1) % period == 0) REQUIRE(cudaFree(workspace));
              }
            },
            output(y, kCells, 0)};
  };
}

// From the stream's own pool, which keeps what it has.
Prepare workspace_pool_case(int kernels, int steps) {
  return [=](Pool& pool) -> Work {
    auto* y = pool.random<std::uint32_t>(kCells);
    cudaMemPool_t reserve{};
    std::uint64_t keep = kWorkspace;
    REQUIRE(cudaDeviceGetDefaultMemPool(&reserve, 0));
    REQUIRE(cudaMemPoolSetAttribute(reserve, cudaMemPoolAttrReleaseThreshold, &keep));
    return {[=] {
              for (int k = 0; k < kernels; ++k) {
                std::uint32_t* workspace = nullptr;
                REQUIRE(cudaMallocAsync(&workspace, kWorkspace, nullptr));
                through_workspace<<<kCells / 256, 256>>>(y, workspace, steps);
                REQUIRE(cudaFreeAsync(workspace, nullptr));
              }
            },
            output(y, kCells, 0)};
  };
}

}  // namespace

void add_host_waits(Cases& cases) {
  constexpr int kernels = 64;
  constexpr int steps = 1024;
  const double flops = 2.0 * kernels * steps * kCells;
  const double bytes = 8.0 * kernels * kCells;
  const std::vector<std::string> busy = {"alu"};
  const std::vector<std::string> waits = {"launch"};

  Shape sync(cases, kTool, "sync_f32", "f32", flops, bytes, busy);
  sync.clean("none", sync_case(kernels, steps, 0));
  sync.tempting("at_end", sync_case(kernels, steps, kernels));
  sync.defect("every2", 0.5, sync_case(kernels, steps, 2)).in(waits);
  sync.defect("every1", 1, sync_case(kernels, steps, 1)).in(waits);

  sync.tempting("two_behind", wait_case(kernels, steps, Wait::two_behind));

  // About 27 µs a kernel.
  constexpr int fewer = 24;
  constexpr int more = 3 * steps;
  Shape each(cases, kTool, "wait_each_f32", "f32", 2.0 * fewer * more * kCells,
             8.0 * fewer * kCells, busy);
  each.clean("none", sync_case(fewer, more, 0));
  each.tempting("two_behind", wait_case(fewer, more, Wait::two_behind));
  each.defect("stream", 0.2, wait_case(fewer, more, Wait::stream)).in({"launch", "alu"});
  each.defect("event", 0.2, wait_case(fewer, more, Wait::event)).in({"launch", "alu"});

  Shape scalar(cases, kTool, "scalar_f32", "f32", flops, bytes, busy);
  scalar.clean("behind", scalar_async_case(kernels, steps));
  scalar.clean("at_end", scalar_case(kernels, steps, kernels));
  scalar.defect("every4", 0.3, scalar_case(kernels, steps, 4)).in(waits);
  scalar.defect("every1", 1, scalar_case(kernels, steps, 1)).in(waits);

  const double values = 1.0 * kChunks * kChunk;
  Shape up(cases, kTool, "upload_f16", "f16", 2.0 * values * kChunkSteps, 4.0 * values, busy);
  up.clean("overlapped2", upload_case(Transfer::overlapped, 2));
  up.clean("overlapped8", upload_case(Transfer::overlapped, 8));
  up.defect("pinned", 0.3, upload_case(Transfer::pinned)).in(waits);
  up.defect("pageable", 1, upload_case(Transfer::pageable)).in(waits);

  Shape down(cases, kTool, "download_f32", "f32", 2.0 * values * kChunkSteps, 8.0 * values, busy);
  down.clean("stay", stay_case);
  down.tempting("overlapped", download_case(Transfer::overlapped));
  down.defect("pinned", 0.4, download_case(Transfer::pinned)).in(waits);
  down.defect("pageable", 1, download_case(Transfer::pageable)).in(waits);

  Shape space(cases, kTool, "workspace_u32", "u32", 2.0 * 16 * steps * kCells, 192.0 * kCells,
              busy);
  space.clean("kept", workspace_case(16, steps, 0));
  space.clean("pool", workspace_pool_case(16, steps));
  space.defect("every4", 0.6, workspace_case(16, steps, 4)).in(waits);
  space.defect("every1", 1, workspace_case(16, steps, 1)).in(waits);

  Shape rare(cases, kTool, "rare_sync_f32", "f32", flops, bytes, busy);
  rare.clean("none", sync_case(4, 16 * steps, 0));
  rare.tempting("every1", sync_case(4, 16 * steps, 1));
  rare.tempting("stream", wait_case(4, 16 * steps, Wait::stream));
}

}  // namespace defects
