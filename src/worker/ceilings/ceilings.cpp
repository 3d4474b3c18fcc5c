#include "worker/ceilings/ceilings.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/file.hpp"
#include "common/base/hash.hpp"
#include "common/base/machine_lock.hpp"
#include "common/wire/json.hpp"
#include "worker/ceilings/machine.hpp"
#include "worker/ceilings/team.hpp"

namespace kernelpro {
namespace {

constexpr std::int64_t lock_timeout_ms = 300'000;
constexpr std::int64_t assumed_cache_bytes = std::int64_t{64} << 20;  // when the system is silent

// A ceiling is the best of its kernels.
struct KernelEntry {
  const char* ceiling;
  const char* symbol;
  std::size_t arrays;  // 0: it computes, and its work is operations instead of bytes
};

constexpr auto kernel_entries = std::to_array<KernelEntry>({
    {.ceiling = "read", .symbol = "kp_read_one", .arrays = 1},
    {.ceiling = "read", .symbol = "kp_read_four", .arrays = 1},
    {.ceiling = "write", .symbol = "kp_write_plain", .arrays = 1},
    {.ceiling = "write", .symbol = "kp_write_zero", .arrays = 1},
    {.ceiling = "write", .symbol = "kp_write_stream", .arrays = 1},
    {.ceiling = "copy", .symbol = "kp_copy_plain", .arrays = 2},
    {.ceiling = "copy", .symbol = "kp_copy_stream", .arrays = 2},
    {.ceiling = "triad", .symbol = "kp_triad_plain", .arrays = 3},
    {.ceiling = "triad", .symbol = "kp_triad_stream", .arrays = 3},
    {.ceiling = "fma_f32", .symbol = "kp_fma_f32", .arrays = 0},
    {.ceiling = "fma_f64", .symbol = "kp_fma_f64", .arrays = 0},
});

// -ffast-math would let the compiler fold the FMA chains.
const std::vector<std::string>& kernel_options() {
  static const std::vector<std::string> options{"-O3", "target", "-ffp-contract=fast"};
  return options;
}

struct Unload {
  void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, Unload>;

struct Kernels {
  Library library;  // keeps the runs' code loaded
  std::vector<KernelRun> runs;
};

std::string machine_key(const MachineRecord& machine, const Compiler& compiler,
                        const std::string& source) {
  const std::array<std::string, 7> parts{machine.processor,
                                         std::to_string(machine.cores),
                                         std::to_string(machine.memory_bytes),
                                         machine.kernel,
                                         compiler.identity,
                                         KERNELPRO_VERSION,
                                         sha256(source)};
  std::string text = "in shared memory\n";
  for (const std::string& part : parts) {
    text += part + '\n';
  }
  for (const std::string& flag : compiler.target_flags) {
    text += flag + '\n';
  }
  return sha256(text).substr(0, 32);
}

std::vector<int> thread_counts(int cores) {
  return cores > 1 ? std::vector<int>{1, cores} : std::vector<int>{1};
}

bool is_complete(const Ceilings& ceilings, const std::string& key, int cores) {
  if (ceilings.machine != key) {
    return false;
  }
  for (const int threads : thread_counts(cores)) {
    for (const KernelEntry& entry : kernel_entries) {
      const Ceiling* ceiling = find_ceiling(ceilings, entry.ceiling, threads);
      if (ceiling == nullptr || !std::isfinite(ceiling->median) || ceiling->median <= 0) {
        return false;
      }
    }
  }
  return true;
}

// Nothing when the file is absent or damaged: then they are measured again.
std::optional<Ceilings> read_cached(const std::filesystem::path& file, const std::string& key,
                                    int cores) {
  const Result<std::string> text = read_file(file);
  if (!text) {
    return std::nullopt;
  }
  const Result<nlohmann::json> json = parse_json(*text);
  if (!json) {
    return std::nullopt;
  }
  Result<Ceilings> ceilings = ceilings_from_json(*json);
  if (!ceilings || !is_complete(*ceilings, key, cores)) {
    return std::nullopt;
  }
  return *std::move(ceilings);
}

Result<Kernels> load_kernels(const std::filesystem::path& file) {
  Kernels kernels;
  kernels.library.reset(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!kernels.library) {
    return make_error(ErrorKind::environment,
                      std::string("the built ceiling kernels cannot be loaded: ") + dlerror() +
                          "; remove the file and try again",
                      file.string());
  }
  for (const KernelEntry& entry : kernel_entries) {
    void* symbol = dlsym(kernels.library.get(), entry.symbol);
    if (symbol == nullptr) {
      return make_error(ErrorKind::environment,
                        std::string("the ceiling kernels lack '") + entry.symbol +
                            "'; their source is not this program's: reinstall KernelPro",
                        file.string());
    }
    kernels.runs.push_back(
        {.kernel = reinterpret_cast<CeilingKernel>(symbol), .arrays = entry.arrays});
  }
  return kernels;
}

Result<Kernels> build_kernels(const Toolchain& toolchain, const std::string& source,
                              const std::string& where, const std::stop_token& stop) {
  BuildRequest request;
  request.source = source;
  request.options = kernel_options();
  KP_LET(const BuildOutcome outcome, toolchain.build(request, stop));
  if (!outcome.ok) {
    return make_error(ErrorKind::environment,
                      "the ceiling kernels do not build; reinstall KernelPro if this file was "
                      "changed, else repair the compiler. It said:\n" +
                          outcome.diagnostics,
                      where);
  }
  return load_kernels(outcome.library);
}

// Four times the last-level cache, an eighth of the memory at most.
std::int64_t working_set_bytes(const MachineRecord& machine) {
  const std::int64_t cache = machine.cache_bytes > 0 ? machine.cache_bytes : assumed_cache_bytes;
  const std::int64_t margin = cache / 8;  // what the layout of the arrays leaves unused
  const std::int64_t wanted = (4 * cache) + margin;
  return machine.memory_bytes > 0 ? std::min(wanted, machine.memory_bytes / 8) : wanted;
}

// Work per nanosecond is 1e9 per second: rates need no factor.
Ceiling summarize(const KernelEntry& entry, int threads, std::vector<double> rates) {
  std::ranges::sort(rates);
  const auto at = [&](double q) {  // the nearest rank: a rate that was really seen
    return rates[static_cast<std::size_t>(std::lround(q * static_cast<double>(rates.size() - 1)))];
  };
  return {.name = entry.ceiling,
          .unit = entry.arrays == 0 ? "GFLOP/s" : "GB/s",
          .threads = threads,
          .median = at(0.5),
          .low = at(0.05),
          .high = at(0.95)};
}

void keep_best(std::vector<Ceiling>& list, Ceiling found) {
  const auto same = std::ranges::find_if(list, [&](const Ceiling& known) {
    return known.name == found.name && known.threads == found.threads;
  });
  if (same == list.end()) {
    list.push_back(std::move(found));
  } else if (found.median > same->median) {
    *same = std::move(found);
  }
}

Result<Ceilings> measure(const MachineRecord& machine, const std::string& key,
                         const std::vector<KernelRun>& runs, int repeats,
                         const std::stop_token& stop) {
  Ceilings ceilings{.machine = key, .list = {}};
  for (const int threads : thread_counts(machine.cores)) {
    TeamSettings team;
    team.processors = allowed_processors();
    team.processors.resize(static_cast<std::size_t>(threads), team.processors.front());
    team.memory_bytes = working_set_bytes(machine);
    team.repeats = std::max(repeats, 1);
    KP_LET(const std::vector<std::vector<double>> rates, run_team(team, runs, stop));
    for (std::size_t i = 0; i < kernel_entries.size(); ++i) {
      keep_best(ceilings.list, summarize(kernel_entries[i], threads, rates[i]));
    }
  }
  return ceilings;
}

}  // namespace

Result<Ceilings> measure_ceilings(const Toolchain& toolchain, const CeilingSettings& settings,
                                  const std::stop_token& stop) {
  const MachineRecord machine = describe_machine();
  KP_LET(const std::string source, read_file(settings.source));
  KP_LET(const Compiler compiler, toolchain.find(""));
  const std::string key = machine_key(machine, compiler, source);
  const std::filesystem::path file = settings.cache / "ceilings" / (key + ".json");
  const auto cached = [&] {
    return settings.refresh ? std::nullopt : read_cached(file, key, machine.cores);
  };
  if (std::optional<Ceilings> known = cached()) {
    return *std::move(known);
  }
  // Before the lock: a build waits for timings to end.
  KP_LET(const Kernels kernels, build_kernels(toolchain, source, settings.source.string(), stop));
  KP_LET(const MachineLock lock,
         MachineLock::acquire("cpu", LockMode::timing, lock_timeout_ms, stop));
  if (std::optional<Ceilings> known = cached()) {  // by another process while we waited
    return *std::move(known);
  }
  Result<Ceilings> ceilings = measure(machine, key, kernels.runs, settings.repeats, stop);
  if (ceilings) {
    KP_TRY(make_directories(file.parent_path()));
    KP_TRY(write_file_atomic(file, to_json(*ceilings).dump(2) + '\n'));
  }
  return ceilings;
}

}  // namespace kernelpro
