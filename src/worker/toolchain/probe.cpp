#include "worker/toolchain/probe.hpp"

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/base/file.hpp"
#include "common/base/hash.hpp"
#include "common/base/machine_lock.hpp"
#include "worker/toolchain/build_cache.hpp"
#include "worker/toolchain/cuda.hpp"
#include "worker/toolchain/diagnostics.hpp"
#include "worker/toolchain/flags.hpp"
#include "worker/toolchain/probe_programs.hpp"
#include "worker/toolchain/workplace.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::int64_t probe_file_bytes = 64LL << 20;
constexpr std::int64_t probe_run_timeout_ms = 20'000;

Result<ProbeResult> probe(const ToolchainSettings& settings, const std::string& compiler,
                          const Flags& flags, std::string_view program) {
  KP_LET(const MachineLock lock,
         MachineLock::acquire("cpu", LockMode::build, settings.lock_timeout_ms));
  KP_LET(const Workplace place, Workplace::create({}));
  KP_TRY(place.lay_source("probe.cpp", program));
  const std::string binary = (place.output_folder() / "probe").string();
  JailedRun compile{
      {compiler, "-std=c++20", "-Ofast"}, probe_file_bytes, settings.build_timeout_ms, {}};
  compile.program.insert(compile.program.end(), flags.begin(), flags.end());
  compile.program.insert(compile.program.end(), {"probe.cpp", "-o", binary});
  KP_LET(const Finished built, place.run(settings.jail, settings.landlock, compile));
  if (built.timed_out) {
    return make_error(ErrorKind::timeout,
                      "a small program took longer to build than " +
                          std::to_string(settings.build_timeout_ms) +
                          " ms; try again when the machine is less busy",
                      compiler);
  }
  if (!built.succeeded()) {
    return ProbeResult::does_not_build;
  }
  KP_LET(const Finished ran, place.run(settings.jail, settings.landlock,
                                       {{binary}, probe_file_bytes, probe_run_timeout_ms, {}}));
  if (ran.succeeded()) {
    return ProbeResult::works;
  }
  return ran.signal != 0 || ran.timed_out ? ProbeResult::does_not_run : ProbeResult::wrong_result;
}

Result<Flags> find_target(const ToolchainSettings& settings, const Processor& processor,
                          const Compiler& compiler) {
  for (const Flags& flags : target_choices(processor)) {
    KP_LET(const ProbeResult result, probe_target(settings, compiler.path, flags));
    if (result == ProbeResult::works) {
      return flags;
    }
  }
  return make_error(ErrorKind::environment,
                    "it builds no program that runs here; try it by hand on a small C++ program, "
                    "and see that the temporary folder (TMPDIR) is not mounted noexec",
                    compiler.path);
}

Result<Flags> find_openmp(const ToolchainSettings& settings, const Compiler& compiler) {
  Flags flags = {"-fopenmp"};
  KP_LET(const ProbeResult result, probe_openmp(settings, compiler.path, flags));
  return result == ProbeResult::works ? flags : Flags();
}

// The probes known so far; damaged or missing means none.
json read_probes(const fs::path& file) {
  const Result<std::string> text = read_file(file);
  json known = text ? json::parse(*text, nullptr, false) : json();
  return known.is_object() ? known : json::object();
}

std::optional<Flags> flags_from_json(const json& entry, const char* key) {
  if (!entry.is_object() || !entry.contains(key) || !entry[key].is_array()) {
    return std::nullopt;
  }
  Flags flags;
  for (const json& flag : entry[key]) {
    if (!flag.is_string()) {
      return std::nullopt;
    }
    flags.push_back(flag.get<std::string>());
  }
  return flags;
}

bool take_known(const json& probes, const std::string& key, Compiler& compiler) {
  if (!probes.contains(key)) {
    return false;
  }
  std::optional<Flags> target = flags_from_json(probes[key], "target_flags");
  std::optional<Flags> openmp = flags_from_json(probes[key], "openmp_flags");
  if (!target || !openmp) {
    return false;
  }
  compiler.target_flags = std::move(*target);
  compiler.openmp_flags = std::move(*openmp);
  return true;
}

// Reads again first: another process may have added its probes; one lost in a race is made again.
Status remember(const fs::path& file, const std::string& key, const Compiler& compiler) {
  json probes = read_probes(file);
  probes[key] = {{"compiler", compiler.path},
                 {"compiler_identity", compiler.identity},
                 {"target_flags", compiler.target_flags},
                 {"openmp_flags", compiler.openmp_flags}};
  if (const Status written = write_file_atomic(file, probes.dump(2)); !written) {
    return cache_error(written.error(), file.parent_path());
  }
  return {};
}

Result<Finished> build_kernel(const ToolchainSettings& settings, const Compiler& nvcc) {
  KP_LET(const MachineLock lock,
         MachineLock::acquire("cpu", LockMode::build, settings.lock_timeout_ms));
  KP_LET(const Workplace place, Workplace::create({}));
  KP_TRY(place.lay_source("probe.cu", cuda_probe_program));
  KP_LET(const BuildFlags flags, build_flags({}, nvcc));
  JailedRun what{{nvcc.path}, probe_file_bytes, settings.build_timeout_ms, flags.read};
  what.program.insert(what.program.end(), flags.compile.begin(), flags.compile.end());
  what.program.insert(what.program.end(), {"probe.cu", "-o", "../out/probe.so"});
  what.program.insert(what.program.end(), flags.link.begin(), flags.link.end());
  return place.run(settings.jail, settings.landlock, what);
}

std::string program_stamp(const std::string& path) {
  std::error_code failure;
  const fs::path program = fs::canonical(path, failure);
  const std::uintmax_t size = fs::file_size(program, failure);
  const auto changed = fs::last_write_time(program, failure).time_since_epoch();
  return program.string() + "\n" + std::to_string(size) + "\n" +
         std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(changed).count());
}

}  // namespace

std::vector<Flags> target_choices(const Processor& processor) {
  const auto has = [&processor](const char* feature) {
    return processor.features.contains(feature);
  };
  if (processor.architecture == "x86_64") {
    return {{"-march=native"}, {"-march=x86-64-v3"}, {"-march=x86-64-v2"}, {}};
  }
  if (processor.architecture == "aarch64") {
    // A virtual machine may hide SVE of a processor that is known to have it; clang goes by the
    // model, so SVE is taken away by name.
    std::vector<Flags> choices = {{"-mcpu=native"}, {"-mcpu=native+nosve"}};
    if (has("asimdhp") && has("asimddp") && has("atomics")) {
      choices.push_back({"-march=armv8.2-a+fp16+dotprod"});
    }
    choices.emplace_back();
    return choices;
  }
  return {{}};
}

Result<ProbeResult> probe_target(const ToolchainSettings& settings, const std::string& compiler,
                                 const Flags& flags) {
  return probe(settings, compiler, flags, target_probe_program);
}

Result<ProbeResult> probe_openmp(const ToolchainSettings& settings, const std::string& compiler,
                                 const Flags& flags) {
  return probe(settings, compiler, flags, openmp_probe_program);
}

std::string compiler_stamp(const Compiler& compiler) {
  std::string stamp = compiler.identity + "\n" + program_stamp(compiler.path);
  if (is_cuda(compiler)) {
    stamp += "\n" + program_stamp(compiler.host_compiler);
  }
  return stamp;
}

Status probe_compiler(const ToolchainSettings& settings, const Processor& processor,
                      Compiler& compiler) {
  const fs::path file = settings.cache / "targets.json";
  std::string parts =
      compiler_stamp(compiler) + "\n" + processor.architecture + "\n" + processor.identity + "\n";
  parts.append(target_probe_program).append(openmp_probe_program);
  const std::string key = sha256(parts);
  if (take_known(read_probes(file), key, compiler)) {
    return {};
  }
  KP_LET(Flags target, find_target(settings, processor, compiler));
  KP_LET(Flags openmp, find_openmp(settings, compiler));
  compiler.target_flags = std::move(target);
  compiler.openmp_flags = std::move(openmp);
  return remember(file, key, compiler);
}

Status probe_nvcc(const ToolchainSettings& settings, Compiler& nvcc) {
  nvcc.target_flags = architecture_flags(settings.cuda_architecture);
  const fs::path file = settings.cache / "targets.json";
  const std::string key = sha256(compiler_stamp(nvcc) + "\n" + nvcc.target_flags.front() + "\n" +
                                 std::string(cuda_probe_program));
  if (take_known(read_probes(file), key, nvcc)) {
    return {};
  }
  KP_LET(const Finished built, build_kernel(settings, nvcc));
  if (!built.succeeded()) {
    return make_error(
        ErrorKind::environment,
        "it builds no small kernel with " + nvcc.target_flags.front() + " and " +
            nvcc.host_compiler +
            (built.timed_out ? " in " + std::to_string(settings.build_timeout_ms) + " ms"
                             : ": " + cap_text(built.errors)) +
            "; set CUDA_HOME to a toolkit that knows this device and this compiler",
        nvcc.path);
  }
  return remember(file, key, nvcc);
}

}  // namespace kernelpro
