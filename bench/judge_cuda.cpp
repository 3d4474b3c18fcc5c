// What the GPU judge costs and how well it tells, as one JSON value. Runs on the GPU node itself
// and needs no coordinator:
//
//   cmake --preset worker && cmake --build build/worker && build/worker/bin/judge_cuda >
//   bench/results/h200/judge_cuda.json
//
// About five minutes. Names of parts as arguments run these alone: cost large agreement planted
// hostile.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/wire/json.hpp"
#include "must.hpp"
#include "open_session.hpp"
#include "worker/ceilings/machine.hpp"

namespace {

using namespace kernelpro;
using nlohmann::json;

constexpr int repeats = 20;
constexpr int hostile_count = 100;

// out = max(x, 0): the kernel's body is `work`, run by blocks of 256 threads; `blocks` of them.
std::string relu_source(const std::string& work, const std::string& blocks,
                        const std::string& before = "") {
  return "#include <cuda_runtime.h>\n#include <cstdlib>\n#include \"kernelpro/candidate.h\"\n"
         "__global__ void relu(const float* x, float* out, long long n) {\n"
         "  const long long first = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
         "  const long long step = (long long)gridDim.x * blockDim.x;\n" +
         work +
         "}\n"
         "extern \"C\" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) "
         "{\n"
         "  const long long n = context->axes[0];\n" +
         before + "  const long long blocks = " + blocks +
         ";\n"
         "  relu<<<(unsigned)(blocks < 1 ? 1 : blocks), 256, 0, (cudaStream_t)context->stream>>>("
         "(const float*)tensors[0].data, (float*)tensors[1].data, n);\n"
         "  return cudaGetLastError() == cudaSuccess ? 0 : 1;\n}\n";
}

const std::string plain_work =
    "  for (long long i = first; i < n; i += step) { out[i] = x[i] > 0.0f ? x[i] : 0.0f; }\n";
const std::string one_each = "(n + 255) / 256";

std::string plain_source() {
  return relu_source(plain_work, one_each);
}

// As plain, but every block stays until `cycles` have passed: a kernel of a known length.
std::string lasting_source(long long cycles) {
  return relu_source("  const long long start = clock64();\n" + plain_work +
                         fmt::format("  while (clock64() - start < {}) {{ }}\n", cycles),
                     "132");
}

Candidate cuda_candidate(const std::string& name, const std::string& source) {
  Candidate candidate;
  candidate.name = name;
  candidate.backend = Backend::cuda;
  candidate.source = source;
  candidate.compiler = "nvcc";
  candidate.options = {"-O3"};
  return candidate;
}

Task relu_task(std::int64_t n, const std::string& baseline_source) {
  Task task;
  task.name = "relu";
  task.family = "elementwise";
  task.summary = "out = max(x, 0)";
  task.axes = {AxisSpec{"n", std::nullopt}};
  TensorSpec tensor;
  tensor.shape = {*Formula::parse("n")};
  tensor.name = "x";
  task.inputs = {tensor};
  tensor.name = "out";
  task.outputs = {tensor};
  task.reduction = *Formula::parse("1");
  task.work.flops = *Formula::parse("n");
  task.work.bytes = *Formula::parse("8*n");
  task.timed_shapes = {{{"n", n}}};
  task.held_out = {{"n", {1, 5000}}};
  task.reference.file = "reference.hpp";
  task.reference.call = {"relu", {"n", "x", "out"}};
  task.files["reference.hpp"] =
      "inline void relu(std::int64_t n, const Real* x, Real* out) {\n"
      "  for (std::int64_t i = 0; i < n; ++i) { out[i] = x[i] > Real(0) ? x[i] : Real(0); }\n}\n";
  ImplementationSpec baseline;
  baseline.name = "plain";
  baseline.backend = Backend::cuda;
  baseline.compiler = "nvcc";
  baseline.file = "baseline.cu";
  baseline.options = {"-O3"};
  task.baselines = {baseline};
  task.files["baseline.cu"] = baseline_source;
  return task;
}

double seconds_since(std::int64_t start) {
  return static_cast<double>(now_ns() - start) / 1e9;
}

// From a source nobody has built before to the verdict.
json cost_of_one(OpenSession& bench) {
  bench.open(relu_task(1 << 22, plain_source()));
  std::vector<double> seconds;
  for (int i = 0; i < 5; ++i) {
    const std::string unseen = fmt::format("// {}\n", now_ns()) + plain_source();
    const std::int64_t start = now_ns();
    bench.evaluate(cuda_candidate("plain", unseen));
    seconds.push_back(seconds_since(start));
  }
  std::sort(seconds.begin(), seconds.end());
  return {{"what", "trivial kernel in an open session, from source to verdict, build included"},
          {"goal_seconds", 2.6},
          {"median_seconds", seconds[2]},
          {"worst_seconds", seconds.back()}};
}

json large_relu(OpenSession& bench) {
  constexpr std::int64_t n = 1'610'612'736;  // 6.4 GB in, 6.4 GB out
  bench.open(relu_task(n, plain_source()), 10);
  const Certificate certificate = bench.evaluate(cuda_candidate("plain", plain_source()));
  const Verdict& verdict = certificate.verdict;
  json out = {{"what", "a ReLU of 6.4 GB with all stages and checks"},
              {"goal", "100 timed calls within 4 s"},
              {"outcome", name_of(verdict.outcome)},
              {"judge_seconds", static_cast<double>(verdict.judge_ns) / 1e9}};
  for (const ShapeTiming& shape : verdict.timing.shapes) {
    const double calls = 2.0 * shape.calls * static_cast<double>(shape.candidate_rounds.size());
    out["timed_calls"] = calls;
    out["seconds_per_100_calls"] = static_cast<double>(verdict.judge_ns) / 1e9 * 100 / calls;
    out["call_us"] = shape.candidate_ns / 1e3;
    out["share_of_bound"] = shape.share_of_bound;
  }
  return out;
}

json budget_json(const ErrorBudget& budget) {
  return {{"noise", budget.noise}, {"clock", budget.clock},     {"drift", budget.drift},
          {"empty", budget.empty}, {"overlap", budget.overlap}, {"total", budget.total()}};
}

// One candidate judged several times: how far apart are its times?
json agreement(OpenSession& bench, std::int64_t n) {
  bench.open(relu_task(n, plain_source()));
  std::vector<double> times;
  int wrong = 0;
  int at_least = 0;
  int suspect = 0;
  double clock_noise = 0;
  double clock_gap = 0;
  ErrorBudget budget;
  for (int i = 0; i < 8; ++i) {
    const Verdict verdict = bench.evaluate(cuda_candidate("plain", plain_source())).verdict;
    if (verdict.timing.shapes.empty()) {
      continue;
    }
    times.push_back(verdict.timing.shapes.front().candidate_ns / 1e3);
    const ShapeTiming& shape = verdict.timing.shapes.front();
    clock_noise = std::max(clock_noise, shape.clock_noise);
    clock_gap = std::max(clock_gap, std::fabs(shape.clock_gap));
    budget = shape.budget.total() > budget.total() ? shape.budget : budget;
    wrong += verdict.timing.comparison == Comparison::same ? 0 : 1;
    at_least += verdict.timing.at_least ? 1 : 0;
    suspect += verdict.suspect ? 1 : 0;
  }
  std::sort(times.begin(), times.end());
  return {{"elements", n},
          {"call_us", times[times.size() / 2]},
          {"spread_percent", 100 * (times.back() / times.front() - 1)},
          {"worst_clock_noise", clock_noise},
          {"worst_clock_gap", clock_gap},
          {"worst_budget", budget_json(budget)},
          {"at_least", at_least},
          {"suspect", suspect},
          {"false_claims", wrong},
          {"evaluations", times.size()}};
}

// `cycles` at about 2 GHz.
json planted(OpenSession& bench, long long cycles) {
  bench.open(relu_task(1 << 20, lasting_source(cycles)));
  const Candidate slower = cuda_candidate("slower", lasting_source(cycles));
  const Candidate faster = cuda_candidate("faster", lasting_source(cycles * 97 / 100));
  int found_faster = 0;
  int found_slower = 0;
  int false_claims = 0;
  double call_ns = 0;
  ErrorBudget budget;
  std::vector<double> speedups;
  for (int i = 0; i < repeats; ++i) {
    const Timing gain = bench.evaluate(faster, slower).verdict.timing;
    found_faster += gain.comparison == Comparison::faster ? 1 : 0;
    speedups.push_back(gain.speedup_interval.low);
    found_slower +=
        bench.evaluate(slower, faster).verdict.timing.comparison == Comparison::slower ? 1 : 0;
    const Timing same = bench.evaluate(slower, slower).verdict.timing;
    false_claims += same.comparison == Comparison::same ? 0 : 1;
    for (const ShapeTiming& shape : same.shapes) {
      call_ns = shape.candidate_ns;
      budget = shape.budget.total() > budget.total() ? shape.budget : budget;
    }
  }
  std::sort(speedups.begin(), speedups.end());
  return {{"what", "3 % planted in a kernel, and the same kernel against itself"},
          {"call_us", call_ns / 1e3},
          {"goal", "18 of 20, no false claim"},
          {"found_faster", found_faster},
          {"found_slower", found_slower},
          {"false_claims", false_claims},
          {"lowest_ends", speedups},
          {"worst_budget", budget_json(budget)},
          {"of", repeats}};
}

json after_hostile(OpenSession& bench) {
  bench.open(relu_task(1 << 20, plain_source()));
  const std::vector<Candidate> hostile = {
      cuda_candidate("illegal address",
                     relu_source("  out[first + (1LL << 40)] = x[0];\n", one_each)),
      cuda_candidate("ends the process", relu_source(plain_work, one_each, "  std::exit(0);\n")),
      cuda_candidate("zeros", relu_source("  for (long long i = first; i < n; i += step) { out[i] "
                                          "= 0.0f; }\n",
                                          one_each)),
      cuda_candidate("one past the end",
                     relu_source(plain_work + "  if (first == 0) { out[n] = 1.0f; }\n", one_each))};
  json outcomes = json::object();
  for (int i = 0; i < hostile_count; ++i) {
    const Candidate& one = hostile[static_cast<std::size_t>(i) % hostile.size()];
    const Verdict verdict = bench.evaluate(one).verdict;
    const std::string key =
        fmt::format("{}: {} {}", one.name, name_of(verdict.outcome), verdict.rule);
    outcomes[key] = outcomes.value(key, 0) + 1;
  }
  std::int64_t start = now_ns();
  const Verdict honest = bench.evaluate(cuda_candidate("plain", plain_source())).verdict;
  const double after = seconds_since(start);
  const Verdict endless =
      bench
          .evaluate(cuda_candidate(
              "endless", relu_source("  while (*(volatile const float*)x != 1e30f) { }\n", "132")))
          .verdict;
  start = now_ns();
  const Verdict next = bench.evaluate(cuda_candidate("plain", plain_source())).verdict;
  return {{"hostile", hostile_count},
          {"outcomes", outcomes},
          {"goal_seconds", 5},
          {"honest_after_hostile", name_of(honest.outcome)},
          {"seconds_after_hostile", after},
          {"endless", name_of(endless.outcome)},
          {"honest_after_endless", name_of(next.outcome)},
          {"seconds_after_endless", seconds_since(start)}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> wanted(argv + 1, argv + argc);
  const auto runs = [&wanted](const char* part) {
    std::fprintf(stderr, "%s\n", part);
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), part) != wanted.end();
  };
  OpenSession bench;
  json out;
  if (runs("cost")) {
    out["cost_of_one"] = cost_of_one(bench);
  }
  if (runs("large")) {
    out["large_relu"] = large_relu(bench);
  }
  if (runs("agreement")) {
    // About 20, 50, 300 and 3000 us at 4 TB/s.
    for (const std::int64_t n : {8'000'000LL, 24'000'000LL, 150'000'000LL, 1'500'000'000LL}) {
      out["agreement"].push_back(agreement(bench, n));
    }
  }
  if (runs("planted")) {
    for (const long long cycles : {60'000LL, 600'000LL}) {
      out["planted"].push_back(planted(bench, cycles));
    }
  }
  if (runs("hostile")) {
    out["after_hostile"] = after_hostile(bench);
  }
  out["version"] = KERNELPRO_VERSION;
  out["machine"] = to_json(describe_machine());
  for (const GpuDescription& gpu : must(list_gpus())) {
    out["gpu"] = fmt::format("{}, sm_{}, CUDA {}.{}", gpu.name, gpu.architecture,
                             gpu.driver_version / 1000, gpu.driver_version % 1000 / 10);
  }
  std::puts(out.dump(2).c_str());
}
