#include "worker/cuda/cuda_ceilings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <utility>

#include "common/base/file.hpp"
#include "common/base/hash.hpp"
#include "common/base/machine_lock.hpp"
#include "common/wire/json.hpp"
#include "worker/cuda/ceiling_bench.hpp"
#include "worker/cuda/nvml.hpp"

namespace kernelpro {

namespace {

constexpr std::int64_t lock_timeout_ms = 300'000;
constexpr std::int64_t first_warm_up_ms = 300;
constexpr std::int64_t warm_up_ms = 100;  // long enough for a limit of power to show
constexpr std::int64_t idle_ms = 1000;
constexpr int least_tensor_capability = 80;
constexpr const char* driver_version_file = "/sys/module/nvidia/version";

enum class Part { memory, l2, shared, fma, tensor };

// A ceiling is the best of its kernels over the shapes of its part.
struct KernelEntry {
  const char* ceiling;
  const char* unit;
  const char* symbol;
  Part part;
};

constexpr auto kernel_entries = std::to_array<KernelEntry>({
    {"read", "GB/s", "kp_read", Part::memory},
    {"write", "GB/s", "kp_write", Part::memory},
    {"write", "GB/s", "kp_write_stream", Part::memory},
    {"copy", "GB/s", "kp_copy", Part::memory},
    {"copy", "GB/s", "kp_copy_stream", Part::memory},
    {"l2_read", "GB/s", "kp_l2_read", Part::l2},
    {"shared_read", "GB/s", "kp_shared_read", Part::shared},
    {"fma_f32", "GFLOP/s", "kp_fma_f32", Part::fma},
    {"fma_f64", "GFLOP/s", "kp_fma_f64", Part::fma},
    {"fma_f16", "GFLOP/s", "kp_fma_f16", Part::fma},
    {"tensor_f16", "GFLOP/s", "kp_tensor_f16", Part::tensor},
    {"tensor_bf16", "GFLOP/s", "kp_tensor_bf16", Part::tensor},
    {"tensor_tf32", "GFLOP/s", "kp_tensor_tf32", Part::tensor},
    {"tensor_f64", "GFLOP/s", "kp_tensor_f64", Part::tensor},
    {"tensor_i8", "GOP/s", "kp_tensor_i8", Part::tensor},
});

constexpr auto memory_shapes =
    std::to_array<LaunchShape>({{256, 8}, {512, 4}, {1024, 2}, {256, 0}, {512, 0}});
constexpr auto l2_shapes = std::to_array<LaunchShape>({{512, 4}, {1024, 2}});
constexpr auto shared_shapes = std::to_array<LaunchShape>({{1024, 1}, {1024, 2}});
constexpr auto fma_shapes = std::to_array<LaunchShape>({{256, 4}, {256, 8}});
constexpr auto tensor_shapes = std::to_array<LaunchShape>({{256, 1}, {256, 2}});

std::span<const LaunchShape> shapes_of(Part part) {
  switch (part) {
    case Part::memory:
      return memory_shapes;
    case Part::l2:
      return l2_shapes;
    case Part::shared:
      return shared_shapes;
    case Part::fma:
      return fma_shapes;
    default:
      return tensor_shapes;
  }
}

// 90 of "90a".
int capability(const GpuDescription& gpu) {
  int out = 0;
  const std::string& text = gpu.architecture;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

bool is_measured(const KernelEntry& entry, const GpuDescription& gpu) {
  return entry.part != Part::tensor || capability(gpu) >= least_tensor_capability;
}

// Half of the L2; a quarter as well, because an L2 of two halves may keep what is read twice.
std::vector<KernelSample> samples_of(const KernelEntry& entry, const GpuDescription& gpu,
                                     std::int64_t buffer_bytes) {
  const std::vector<std::int64_t> sizes =
      entry.part == Part::l2 ? std::vector<std::int64_t>{gpu.l2_bytes / 2, gpu.l2_bytes / 4}
                             : std::vector<std::int64_t>{buffer_bytes};
  std::vector<KernelSample> out;
  for (const std::int64_t bytes : sizes) {
    for (const LaunchShape& shape : shapes_of(entry.part)) {
      out.push_back({entry.symbol, shape, bytes, entry.part != Part::memory});
    }
  }
  return out;
}

Ceiling summarize(const char* name, const char* unit, std::vector<double> values) {
  std::ranges::sort(values);
  const auto at = [&](double q) {  // the nearest rank: a value that was really seen
    return values[static_cast<std::size_t>(
        std::lround(q * static_cast<double>(values.size() - 1)))];
  };
  return {.name = name,
          .unit = unit,
          .threads = 0,
          .median = at(0.5),
          .low = at(0.05),
          .high = at(0.95)};
}

void keep_best(std::vector<Ceiling>& list, Ceiling found) {
  if (list.empty() || list.back().name != found.name) {
    list.push_back(std::move(found));
  } else if (found.median > list.back().median) {
    list.back() = std::move(found);
  }
}

Status measure_kernels(CeilingBench& bench, const GpuDescription& gpu, std::vector<Ceiling>& list) {
  std::int64_t warm_up = first_warm_up_ms;
  for (const KernelEntry& entry : kernel_entries) {
    if (!is_measured(entry, gpu)) {
      continue;
    }
    for (const KernelSample& sample : samples_of(entry, gpu, bench.buffer_bytes())) {
      KP_LET(std::vector<double> rates, bench.rates(sample, warm_up));
      keep_best(list, summarize(entry.ceiling, entry.unit, std::move(rates)));
      warm_up = warm_up_ms;
    }
  }
  return {};
}

Status measure_launches(CeilingBench& bench, std::vector<Ceiling>& list) {
  KP_LET(std::vector<double> launches, bench.launch_times());
  KP_LET(std::vector<double> waits, bench.launch_and_wait_times());
  list.push_back(summarize("launch", "us", std::move(launches)));
  list.push_back(summarize("launch_sync", "us", std::move(waits)));
  return {};
}

void measure_idle_power(const GpuDescription& gpu, std::vector<Ceiling>& list,
                        const std::stop_token& stop) {
  const std::vector<double> watts = power_readings(gpu.uuid, idle_ms, stop);
  if (watts.empty()) {
    return;
  }
  Ceiling power = summarize("idle_power", "W", watts);
  power.median =
      std::accumulate(watts.begin(), watts.end(), 0.0) / static_cast<double>(watts.size());
  list.push_back(std::move(power));
}

Result<Ceilings> measure(Gpu& gpu, const std::string& key, const std::string& image,
                         const std::stop_token& stop) {
  Ceilings out{.machine = key, .list = {}};
  std::vector<Ceiling> idle;  // before the device has worked, though listed last
  measure_idle_power(gpu.description(), idle, stop);
  CeilingBench bench(gpu, stop);
  KP_TRY(bench.prepare(image, cuda_ceiling_kernels()));
  KP_TRY(measure_kernels(bench, gpu.description(), out.list));
  KP_TRY(measure_launches(bench, out.list));
  out.list.insert(out.list.end(), idle.begin(), idle.end());
  return out;
}

Result<std::string> build_kernels(const Toolchain& toolchain, const std::string& source,
                                  const std::string& where, const std::stop_token& stop) {
  KP_LET(const BuildOutcome outcome, toolchain.build(cuda_ceiling_build(source), stop));
  if (!outcome.ok) {
    return make_error(ErrorKind::environment,
                      "the GPU's ceiling kernels do not build; reinstall KernelPro if this file "
                      "was changed, else repair the CUDA toolkit. nvcc said:\n" +
                          outcome.diagnostics,
                      where);
  }
  return read_file(outcome.library);
}

bool has(const Ceilings& ceilings, const std::string& name) {
  const Ceiling* ceiling = find_ceiling(ceilings, name, 0);
  return ceiling != nullptr && std::isfinite(ceiling->median) && ceiling->median > 0;
}

bool is_complete(const Ceilings& ceilings, const GpuDescription& gpu) {
  return has(ceilings, "launch") && has(ceilings, "launch_sync") &&
         std::ranges::all_of(kernel_entries, [&](const KernelEntry& entry) {
           return !is_measured(entry, gpu) || has(ceilings, entry.ceiling);
         });
}

}  // namespace

BuildRequest cuda_ceiling_build(const std::string& source) {
  BuildRequest request;
  request.compiler = "nvcc";
  request.source = source;
  request.options = {"-O3"};
  request.cubin = true;
  return request;
}

std::vector<std::string> cuda_ceiling_kernels() {
  std::vector<std::string> out = {"kp_fill", "kp_empty"};
  for (const KernelEntry& entry : kernel_entries) {
    out.emplace_back(entry.symbol);
  }
  return out;
}

std::string cuda_ceilings_key(const GpuDescription& gpu, const Compiler& nvcc,
                              const std::string& source) {
  // The driver calls itself by the version of CUDA that it serves, which many drivers share.
  const Result<std::string> driver = read_file(driver_version_file);
  std::string text = gpu.uuid + '\n' + std::to_string(gpu.driver_version) + '\n' +
                     (driver ? *driver : "") + '\n' + nvcc.identity + '\n' + KERNELPRO_VERSION +
                     '\n' + sha256(source) + '\n';
  for (const std::string& flag : nvcc.target_flags) {
    text += flag + '\n';
  }
  return sha256(text).substr(0, 32);
}

std::optional<Ceilings> read_cuda_ceilings(const std::filesystem::path& file,
                                           const std::string& key, const GpuDescription& gpu) {
  const Result<std::string> text = read_file(file);
  if (!text) {
    return std::nullopt;
  }
  const Result<nlohmann::json> json = parse_json(*text);
  if (!json) {
    return std::nullopt;
  }
  Result<Ceilings> ceilings = ceilings_from_json(*json);
  if (!ceilings || ceilings->machine != key || !is_complete(*ceilings, gpu)) {
    return std::nullopt;
  }
  return *std::move(ceilings);
}

Result<Ceilings> measure_cuda_ceilings(Gpu& gpu, const Toolchain& toolchain,
                                       const CudaCeilingSettings& settings,
                                       const std::stop_token& stop) {
  const GpuDescription& description = gpu.description();
  KP_LET(const std::string source, read_file(settings.source));
  KP_LET(const Compiler nvcc, toolchain.find("nvcc"));
  const std::string key = cuda_ceilings_key(description, nvcc, source);
  const std::filesystem::path file = settings.cache / "ceilings" / (key + ".json");
  const auto cached = [&] {
    return settings.refresh ? std::nullopt : read_cuda_ceilings(file, key, description);
  };
  if (std::optional<Ceilings> known = cached()) {
    return *std::move(known);
  }
  // Before the lock: a build may wait for timings to end.
  KP_LET(const std::string image, build_kernels(toolchain, source, settings.source.string(), stop));
  KP_LET(const MachineLock lock,
         MachineLock::acquire(description.uuid, LockMode::timing, lock_timeout_ms, stop));
  if (std::optional<Ceilings> known = cached()) {  // by another process while we waited
    return *std::move(known);
  }
  Result<Ceilings> ceilings = measure(gpu, key, image, stop);
  if (ceilings) {
    KP_TRY(make_directories(file.parent_path()));
    KP_TRY(write_file_atomic(file, to_json(*ceilings).dump(2) + '\n'));
  }
  return ceilings;
}

}  // namespace kernelpro
