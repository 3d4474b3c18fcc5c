// How long a diagnosis with a task takes, against `ncu --set full` on the same calls in the same
// jail, as one JSON value:
//
//   build/release/bin/diagnose_cuda [TASK FILE]... > bench/results/h200/diagnose.json
//
// Goal: stages 1 and 2 in at most half of the time. FILE is a candidate beside the task; without
// arguments a few of the bundled ones.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/file.hpp"
#include "common/wire/json.hpp"
#include "coordinator/task/load.hpp"
#include "must.hpp"
#include "open_session.hpp"
#include "worker/ceilings/machine.hpp"
#include "worker/cuda/cuda_ceilings.hpp"
#include "worker/cuda/cuda_ground.hpp"
#include "worker/session/replay_job.hpp"
#include "worker/toolchain/cuda.hpp"

namespace {

using namespace kernelpro;
using nlohmann::json;
namespace fs = std::filesystem;

double seconds_since(std::int64_t start) {
  return static_cast<double>(now_ns() - start) / 1e9;
}

// What a session has inside, for a replay that ncu runs around alone.
struct Bare {
  SessionSettings settings = OpenSession::session_settings();
  GpuDescription description = must(list_gpus()).front();
  Toolchain toolchain = must(Toolchain::open(toolchain_settings()));
  std::unique_ptr<Gpu> gpu = must(Gpu::open(description, toolchain));
  std::unique_ptr<Ground> ground =
      make_cuda_ground(*gpu, cupti_library(toolchain.compilers()).string());
  Ceilings ceilings = must(measure_cuda_ceilings(
      *gpu, toolchain, {settings.cache, settings.share / "ceilings" / "cuda.cu", false}));

  [[nodiscard]] ToolchainSettings toolchain_settings() const {
    ToolchainSettings out;
    out.cache = settings.cache;
    out.abi_include = settings.share / "include";
    out.jail = settings.programs / "kernelpro-jail";
    out.cuda_architecture = description.architecture;
    return out;
  }

  [[nodiscard]] JudgeSettings judge_settings() const {
    JudgeSettings out;
    out.jail = (settings.programs / "kernelpro-jail").string();
    out.runner = (settings.programs / "kernelpro-runner").string();
    out.oracle = (settings.programs / "kernelpro-oracle").string();
    out.timed = false;
    out.threads = std::max(describe_machine().cores, 1);
    out.memory_bytes = describe_machine().memory_bytes;
    return out;
  }
};

// ncu with everything it has, around a replay: of all launches, and of one.
json full_ncu(const Bare& bare, const Task& task, const Candidate& candidate) {
  const std::unique_ptr<Judge> judge =
      must(Judge::open(task, bare.toolchain, bare.ceilings, *bare.ground, bare.judge_settings()));
  const BuildOutcome built =
      must(bare.toolchain.build(build_request(task, candidate, false), std::stop_token()));
  const ReplayJob job =
      must(ReplayJob::make(*judge, judge->timed_shapes().front().axes, built.library));
  const Profilers profilers = find_profilers(bare.settings.programs, bare.toolchain.compilers());
  const ProfiledProgram program = job.program(*bare.ground, bare.judge_settings(), profilers);
  json out;
  for (const bool all : {true, false}) {
    std::vector<std::string> ncu = {profilers.ncu, "--clock-control", "none"};
    ncu.insert(ncu.end(), {"--cache-control", "all", "--disable-profiler-start-stop"});
    ncu.insert(ncu.end(), {"--set", "full", "--force-overwrite", "--export"});
    ncu.push_back((job.folder() / "full").string());
    if (!all) {
      ncu.insert(ncu.end(), {"--launch-skip", "1", "--launch-count", "1", "--kill", "yes"});
    }
    const std::int64_t start = now_ns();
    const Finished finished = must(run_profiled(program, ncu, {}));
    const double seconds = seconds_since(start);
    if (!fs::exists(job.folder() / "full.ncu-rep")) {
      give_up("ncu wrote no report: " + finished.output + finished.errors);
    }
    out[all ? "all_launches_seconds" : "one_launch_seconds"] = seconds;
  }
  return out;
}

Candidate candidate_of(const std::string& file, const fs::path& path) {
  Candidate candidate;
  candidate.name = file;
  candidate.backend = Backend::cuda;
  candidate.source = must(read_file(path));
  candidate.compiler = "nvcc";
  candidate.options = {"-O3"};
  return candidate;
}

json measured(const std::string& name, const std::string& file) {
  const fs::path folder = must(find_task(name));
  const Task task = must(load_task(folder));
  const fs::path beside = fs::is_directory(folder) ? folder : folder.parent_path();
  const Candidate candidate = candidate_of(file, beside / "candidates" / file);
  json out = {{"task", name}, {"candidate", file}};
  {
    OpenSession session;
    OpenOrder order;
    order.task = task;
    order.timed = false;
    session.open(std::move(order));
    DiagnoseOrder wish;
    wish.kind = DiagnoseKind::candidate;
    wish.candidate = candidate;
    const std::int64_t start = now_ns();
    const Diagnosed diagnosed = session.diagnose(wish);
    out["with_judging_seconds"] = seconds_since(start);
    double stages = 0;
    for (const auto& [step, seconds] : diagnosed.seconds) {
      out["steps"][step] = seconds;
      stages += seconds;
    }
    out["diagnosis_seconds"] = stages;
    out["counters"] = diagnosed.profile.counters.empty() ? "read" : diagnosed.profile.counters;
    out["class"] = name_of(diagnosed.report.kind);
    for (const Finding& finding : diagnosed.report.findings) {
      out["findings"].push_back(fmt::format("{}: {}", finding.tool, finding.title));
    }
  }
  const Bare bare;
  out["ncu_set_full"] = full_ncu(bare, task, candidate);
  const double full = out["ncu_set_full"]["all_launches_seconds"];
  out["of_full"] = out["diagnosis_seconds"].get<double>() / full;
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::pair<std::string, std::string>> wanted;
  for (int i = 1; i + 1 < argc; i += 2) {
    wanted.emplace_back(argv[i], argv[i + 1]);
  }
  if (wanted.empty()) {
    wanted = {{"gemm", "good_register_tiled.cu"},
              {"axpy", "good_vector4.cu"},
              {"cg_step", "good_fused.cu"}};
  }
  json out;
  out["what"] = "stages 1 and 2 of a diagnosis with a task, and ncu --set full on the same replay";
  out["goal_of_full"] = 0.5;
  for (const auto& [task, file] : wanted) {
    std::fprintf(stderr, "%s %s\n", task.c_str(), file.c_str());
    out["cases"].push_back(measured(task, file));
    std::fprintf(stderr, "%s\n", out["cases"].back().dump().c_str());
  }
  out["version"] = KERNELPRO_VERSION;
  out["machine"] = to_json(describe_machine());
  for (const GpuDescription& gpu : must(list_gpus())) {
    out["gpu"] = fmt::format("{}, sm_{}, CUDA {}.{}", gpu.name, gpu.architecture,
                             gpu.driver_version / 1000, gpu.driver_version % 1000 / 10);
  }
  std::puts(out.dump(2).c_str());
}
