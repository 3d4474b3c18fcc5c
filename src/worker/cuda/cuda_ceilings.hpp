// Measures what a GPU can do at most.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/ceilings.hpp"
#include "worker/cuda/gpu.hpp"
#include "worker/toolchain/toolchain.hpp"

namespace kernelpro {

struct CudaCeilingSettings {
  std::filesystem::path cache;   // cached as <cache>/ceilings/<key>.json
  std::filesystem::path source;  // share/kernelpro/ceilings/cuda.cu, built for the GPU
  bool refresh = false;          // measure again even when cached
};

// Bandwidth of memory, L2 and shared memory, throughput of FMA and tensor cores by type, latency of
// launches, and idle power where NVML tells; docs/worker.md lists the names. About nine seconds
// when not cached. Takes the GPU's timing lock for that: a caller that holds it would wait for
// itself. For the thread that opened the GPU. A cache file that cannot be read or is incomplete is
// measured again.
[[nodiscard]] Result<Ceilings> measure_cuda_ceilings(Gpu& gpu, const Toolchain& toolchain,
                                                     const CudaCeilingSettings& settings,
                                                     const std::stop_token& stop = {});

// How the kernels are built.
[[nodiscard]] BuildRequest cuda_ceiling_build(const std::string& source);

// What a source of kernels must have.
[[nodiscard]] std::vector<std::string> cuda_ceiling_kernels();

// What the ceilings are cached under: the GPU, its driver, the compiler, the source.
[[nodiscard]] std::string cuda_ceilings_key(const GpuDescription& gpu, const Compiler& nvcc,
                                            const std::string& source);

// The ceilings in `file`; nothing when it is absent, damaged, of another key, or lacks a ceiling
// that such a GPU has.
[[nodiscard]] std::optional<Ceilings> read_cuda_ceilings(const std::filesystem::path& file,
                                                         const std::string& key,
                                                         const GpuDescription& gpu);

}  // namespace kernelpro
