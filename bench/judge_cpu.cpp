// What the CPU judge costs and how well it tells: the figures of docs/judge.md, as one JSON value.
//
//   cmake --build --preset release --target all bench && build/release/bin/judge_cpu >
//   bench/results/judge_cpu-NAME.json
//
// Needs a quiet machine; about three minutes.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/file.hpp"
#include "common/wire/json.hpp"
#include "coordinator/dispatch/worker_client.hpp"
#include "coordinator/propose/source_header.hpp"
#include "coordinator/task/load.hpp"
#include "hacks/hack_candidate.hpp"
#include "must.hpp"

namespace {

using namespace kernelpro;
using nlohmann::json;
namespace fs = std::filesystem;

const fs::path source_tree = KERNELPRO_SOURCE_DIR;
constexpr int repeats = 20;
constexpr int hostile_count = 100;

Candidate load(const fs::path& file) {
  Candidate candidate;
  candidate.name = file.stem().string();
  candidate.source = must(read_file(file));
  const SourceHeader header = read_source_header(candidate.source);
  candidate.compiler = header.compiler;
  candidate.options = header.options;
  return candidate;
}

Opened open_task(WorkerClient& worker, const Task& task) {
  OpenOrder order;
  order.task = task;
  return must(worker.open(order));
}

Verdict evaluate(WorkerClient& worker, const Candidate& candidate,
                 const std::optional<Candidate>& incumbent = std::nullopt) {
  EvaluateOrder order;
  order.candidate = candidate;
  order.incumbent = incumbent;
  return must(worker.evaluate(order)).certificate.verdict;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The trivial candidate: the axpy baseline itself, build cached.
json cost_of_one(WorkerClient& worker, const Task& axpy) {
  const Candidate trivial = load(source_tree / "tasks/axpy/baseline.cpp");
  open_task(worker, axpy);
  evaluate(worker, trivial);
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    seconds.push_back(static_cast<double>(evaluate(worker, trivial).judge_ns) / 1e9);
  }
  return {{"what", "all stages of a trivial candidate in an open session, build excluded"},
          {"goal_seconds", 0.5},
          {"median_seconds", median(seconds)},
          {"worst_seconds", *std::max_element(seconds.begin(), seconds.end())}};
}

// One honest candidate against itself: every claim of a difference is false.
json false_claims(WorkerClient& worker, const Task& task) {
  const Candidate candidate = load(source_tree / "tasks" / task.name / "baseline.cpp");
  const Opened opened = open_task(worker, task);
  int faster = 0;
  int slower = 0;
  int other = 0;
  for (int i = 0; i < repeats; ++i) {
    const Verdict verdict = evaluate(worker, candidate, candidate);
    faster += verdict.timing.comparison == Comparison::faster ? 1 : 0;
    slower += verdict.timing.comparison == Comparison::slower ? 1 : 0;
    other += verdict.outcome != Outcome::passed ? 1 : 0;
  }
  return {{"task", task.name},        {"repeats", repeats},
          {"faster_claimed", faster}, {"slower_claimed", slower},
          {"not_passed", other},      {"noise_floor", opened.shapes.front().noise_floor}};
}

// A difference of 3 % planted in a kernel of about 10 ms, looked for from both sides.
json planted(WorkerClient& worker, Task gemm) {
  gemm.timed_shapes = {{{"m", 240}, {"n", 240}, {"k", 240}}};
  const Candidate steady = load(source_tree / "bench/planted/steady.cpp");
  const Candidate slower = load(source_tree / "bench/planted/slower_by_3_percent.cpp");
  const Opened opened = open_task(worker, gemm);
  int found_faster = 0;
  int found_slower = 0;
  std::vector<double> ratios;
  for (int i = 0; i < repeats; ++i) {
    const Verdict verdict = evaluate(worker, steady, slower);
    found_faster += verdict.timing.comparison == Comparison::faster ? 1 : 0;
    ratios.push_back(verdict.timing.speedup);
    found_slower +=
        evaluate(worker, slower, steady).timing.comparison == Comparison::slower ? 1 : 0;
  }
  return {{"what", "3 % planted: found faster and, roles exchanged, found slower"},
          {"kernel_ms", opened.shapes.front().baseline_ns / 1e6},
          {"repeats", repeats},
          {"goal", 18},
          {"found_faster", found_faster},
          {"found_slower", found_slower},
          {"median_speedup", median(ratios)},
          {"noise_floor", opened.shapes.front().noise_floor}};
}

// What a machine may be left with: our processes, scratch folders, shared memory.
struct Leftovers {
  int processes = 0;
  int scratch = 0;
  int shared_memory = 0;
};

int count_entries(const fs::path& folder, const std::string& prefix) {
  int count = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    count += entry.path().filename().string().compare(0, prefix.size(), prefix) == 0 ? 1 : 0;
  }
  return count;
}

Leftovers look_around() {
  Leftovers found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const Result<std::string> name = read_file(entry.path() / "comm");
    const bool ours =
        name && (name->rfind("kernelpro-runne", 0) == 0 || name->rfind("kernelpro-jail", 0) == 0 ||
                 name->rfind("kernelpro-oracl", 0) == 0);
    found.processes += ours ? 1 : 0;
  }
  found.scratch = count_entries(fs::temp_directory_path(), "kernelpro-");
  found.shared_memory = count_entries("/dev/shm", "");
  return found;
}

json after_hostility(const Task& axpy) {
  std::vector<Candidate> hostile;
  for (const HackCandidate& hack : read_hacks()) {
    if (hack.task == axpy.name && !hack.honest()) {
      hostile.push_back(hack.candidate);
    }
  }
  std::sort(hostile.begin(), hostile.end(),
            [](const Candidate& a, const Candidate& b) { return a.name < b.name; });
  // Every third of the list twice over, so that all kinds take part.
  std::vector<Candidate> chosen;
  for (std::size_t i = 0; chosen.size() < hostile_count; ++i) {
    chosen.push_back(hostile[i * hostile.size() / hostile_count % hostile.size()]);
  }
  const Leftovers before = look_around();
  json out;
  {
    WorkerClient worker = must(WorkerClient::start());
    open_task(worker, axpy);
    must(Result<bool>(worker.build(chosen).ok()));
    const std::int64_t start = now_ns();
    int not_judged = 0;
    for (const Candidate& candidate : chosen) {
      not_judged += evaluate(worker, candidate).outcome == Outcome::not_judged ? 1 : 0;
    }
    const std::int64_t middle = now_ns();
    const Verdict honest = evaluate(worker, load(source_tree / "tasks/axpy/baseline.cpp"));
    out = {{"what", "hostile candidates in a row, then one honest"},
           {"hostile", chosen.size()},
           {"hostile_not_judged", not_judged},
           {"hostile_seconds", static_cast<double>(middle - start) / 1e9},
           {"honest_outcome", std::string(name_of(honest.outcome))},
           {"honest_seconds", static_cast<double>(now_ns() - middle) / 1e9},
           {"goal_seconds", 2.0}};
  }
  const Leftovers after = look_around();
  out["leaked_processes"] = after.processes - before.processes;
  out["leaked_scratch_folders"] = after.scratch - before.scratch;
  out["leaked_shared_memory"] = after.shared_memory - before.shared_memory;
  return out;
}

}  // namespace

int main() {
  const Task axpy = must(load_task(source_tree / "tasks/axpy"));
  const Task gemm = must(load_task(source_tree / "tasks/gemm"));
  json out = {{"bench", "judge_cpu"}, {"version", KERNELPRO_VERSION}};
  {
    WorkerClient worker = must(WorkerClient::start());
    const WorkerDescription description = must(worker.describe());
    out["machine"] = to_json(description.machine);
    for (const CompilerDescription& compiler : description.compilers) {
      out["compilers"].push_back(compiler.identity);
    }
    fmt::print(stderr, "cost of one evaluation\n");
    out["cost"] = cost_of_one(worker, axpy);
    fmt::print(stderr, "false claims\n");
    out["false_claims"] = {false_claims(worker, axpy), false_claims(worker, gemm)};
    fmt::print(stderr, "planted difference\n");
    out["planted"] = planted(worker, gemm);
  }
  fmt::print(stderr, "hostile candidates\n");
  out["hostile"] = after_hostility(axpy);
  fmt::print("{}\n", out.dump(2));
  return 0;
}
