// How well the judge tells the energy of a GPU's calls, as one JSON value. Runs on the GPU node
// itself and needs no coordinator:
//
//   cmake --preset worker && cmake --build build/worker && build/worker/bin/energy_cuda >
//   bench/results/h200/energy_cuda.json
//
// Six evaluations of about 38 s each: about four minutes, and half a minute more for the ceilings
// of a machine that is new.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/file.hpp"
#include "common/wire/json.hpp"
#include "must.hpp"
#include "open_session.hpp"
#include "worker/ceilings/machine.hpp"

namespace {

using namespace kernelpro;
using nlohmann::json;

constexpr int repeats = 5;
constexpr int twins = 1;
constexpr int planted_percent = 10;
constexpr std::int64_t elements = 1 << 26;  // 0.8 GB a call, about 0.2 ms

// out = alpha x + y with that much of it computed twice, at the far end of the stream: by then the
// cache has forgotten it.
std::string axpy_source(int more_percent) {
  return fmt::format(
      "#include <cuda_runtime.h>\n#include \"kernelpro/candidate.h\"\n"
      "__global__ void axpy(long long n, long long all, float alpha, const float* x,\n"
      "                     const float* y, float* out) {{\n"
      "  const long long at = blockIdx.x * 256LL + threadIdx.x;\n"
      "  const long long i = at < n ? at : at - n;\n"
      "  if (at < all) {{ out[i] = alpha * x[i] + y[i]; }}\n"
      "}}\n"
      "extern \"C\" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) "
      "{{\n"
      "  const long long n = context->axes[0];\n"
      "  const long long all = n + n * {} / 100;\n"
      "  axpy<<<(unsigned)((all + 255) / 256), 256, 0, (cudaStream_t)context->stream>>>(\n"
      "      n, all, (float)context->scalars[0], (const float*)tensors[0].data,\n"
      "      (const float*)tensors[1].data, (float*)tensors[2].data);\n"
      "  return cudaGetLastError() == cudaSuccess ? 0 : 1;\n}}\n",
      more_percent);
}

Candidate axpy(const std::string& name, int more_percent) {
  Candidate candidate;
  candidate.name = name;
  candidate.backend = Backend::cuda;
  candidate.source = axpy_source(more_percent);
  candidate.compiler = "nvcc";
  candidate.options = {"-O3"};
  return candidate;
}

// The bundled task axpy at one large shape, with its own reference and baseline.
Task axpy_task() {
  const std::filesystem::path folder = must(share_directory()) / "tasks" / "axpy";
  Task task;
  task.name = "axpy";
  task.family = "vector";
  task.summary = "out = alpha x + y, single precision";
  task.axes = {AxisSpec{"n", std::nullopt}};
  TensorSpec tensor;
  tensor.shape = {*Formula::parse("n")};
  for (const char* name : {"x", "y"}) {
    tensor.name = name;
    task.inputs.push_back(tensor);
  }
  tensor.name = "out";
  task.outputs = {tensor};
  task.scalars = {{"alpha", DType::f32, 0.5, 2.0}};
  task.reduction = *Formula::parse("2");
  task.work.flops = *Formula::parse("2*n");
  task.work.bytes = *Formula::parse("12*n");
  task.timed_shapes = {{{"n", elements}}};
  task.held_out = {{"n", {1, 100'000}}};
  task.reference.file = "reference.hpp";
  task.reference.call = {"axpy", {"n", "alpha", "x", "y", "out"}};
  task.files["reference.hpp"] = must(read_file(folder / "reference.hpp"));
  ImplementationSpec baseline;
  baseline.name = "naive-cuda";
  baseline.backend = Backend::cuda;
  baseline.compiler = "nvcc";
  baseline.file = "baseline.cu";
  baseline.options = {"-O3"};
  task.baselines = {baseline};
  task.files["baseline.cu"] = must(read_file(folder / "baseline.cu"));
  return task;
}

// An evaluation without energy ends the measurement, with what the judge said.
Verdict measured(OpenSession& session, const Candidate& candidate, const Candidate& incumbent) {
  Verdict verdict = session.evaluate(candidate, incumbent, true).verdict;
  if (!verdict.energy) {
    std::string why = verdict.summary;
    for (const std::string& line : verdict.evidence) {
      why += "\n" + line;
    }
    give_up(candidate.name + ": no energy was measured: " + why);
  }
  return verdict;
}

double spread_percent(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return 100 * (*high / *low - 1);
}

// What an arm's five measurements said.
json repeated(const std::vector<ArmEnergy>& arms) {
  std::vector<double> gross;
  std::vector<double> net;
  std::vector<double> watts;
  std::vector<double> call_us;
  for (const ArmEnergy& arm : arms) {
    gross.push_back(arm.joules);
    net.push_back(arm.net_joules);
    watts.push_back(arm.watts);
    call_us.push_back(arm.call_ns / 1e3);
  }
  return {{"joules_per_call", gross},
          {"spread_percent", spread_percent(gross)},
          {"net_joules_per_call", net},
          {"net_spread_percent", spread_percent(net)},
          {"watts", watts},
          {"call_us", call_us}};
}

// The steady kernel five times against the one with more work: how far apart are five measurements
// of one kernel, and is the difference found each time?
json spread_and_planted(OpenSession& session) {
  const Candidate steady = axpy("steady", 0);
  const Candidate more = axpy("more", planted_percent);
  std::vector<ArmEnergy> steady_arms;
  std::vector<ArmEnergy> more_arms;
  std::vector<double> seconds;
  json ratios = json::array();
  json first;
  int found = 0;
  for (int i = 0; i < repeats; ++i) {
    const std::int64_t start = now_ns();
    const Verdict verdict = measured(session, steady, more);
    seconds.push_back(static_cast<double>(now_ns() - start) / 1e9);
    const ShapeEnergy& shape = verdict.energy->shapes.front();
    steady_arms.push_back(shape.candidate);
    more_arms.push_back(shape.incumbent);
    ratios.push_back({shape.ratio, shape.ratio_interval.low, shape.ratio_interval.high});
    found += verdict.energy->comparison == EnergyComparison::less ? 1 : 0;
    std::fprintf(stderr, "  %.3f J a call against %.3f J, ratio %.3f\n", shape.candidate.joules,
                 shape.incumbent.joules, shape.ratio);
    if (i == 0) {
      first = to_json(verdict)["energy"];
    }
  }
  return {{"what", fmt::format("axpy of {} elements against itself with {} % more work", elements,
                               planted_percent)},
          {"goal_spread_percent", 2.0},
          {"steady", repeated(steady_arms)},
          {"with_more_work", repeated(more_arms)},
          {"planted_percent", planted_percent},
          {"found", found},
          {"of", repeats},
          {"ratio_low_high", ratios},
          {"seconds_per_evaluation", seconds},
          {"first_evaluation", first}};
}

// One binary in two processes: no difference may be claimed.
json twin_claims(OpenSession& session) {
  const Candidate steady = axpy("steady", 0);
  json ratios = json::array();
  int wrong = 0;
  for (int i = 0; i < twins; ++i) {
    const Verdict verdict = measured(session, steady, steady);
    const ShapeEnergy& shape = verdict.energy->shapes.front();
    ratios.push_back({shape.ratio, shape.ratio_interval.low, shape.ratio_interval.high});
    wrong += verdict.energy->comparison == EnergyComparison::same ? 0 : 1;
  }
  return {{"what", "two processes of one binary"},
          {"false_claims", wrong},
          {"of", twins},
          {"ratio_low_high", ratios}};
}

}  // namespace

int main() {
  const std::int64_t start = now_ns();
  OpenSession session;
  const auto say = [](const char* what) { std::fprintf(stderr, "%s\n", what); };
  json out;
  say("opening");
  session.open(axpy_task(), 0, true);
  say("one kernel five times, and a planted difference");
  out["spread_and_planted"] = spread_and_planted(session);
  say("two processes of one binary");
  out["twins"] = twin_claims(session);
  out["seconds"] = static_cast<double>(now_ns() - start) / 1e9;
  out["version"] = KERNELPRO_VERSION;
  out["machine"] = to_json(describe_machine());
  for (const GpuDescription& gpu : must(list_gpus())) {
    out["gpu"] = fmt::format("{}, sm_{}, CUDA {}.{}", gpu.name, gpu.architecture,
                             gpu.driver_version / 1000, gpu.driver_version % 1000 / 10);
  }
  std::puts(out.dump(2).c_str());
}
