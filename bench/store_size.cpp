// What a store of 100,000 nodes costs: the figures of docs/store.md, as one JSON value.
//
//   cmake --build --preset release && build/release/bin/store_size >
//   bench/results/store_size-NAME.json
//
// One gemm candidate is judged; each node gets that certificate with every measured number, key
// and hash drawn anew, so that nothing in it repeats which would not repeat in a run. Nine nodes of
// ten are judged and have a certificate, one is a duplicate. Writing takes place in memory
// (/dev/shm, where it is there) and takes some minutes: what a write costs depends on the disk.
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/chacha.hpp"
#include "common/base/clock.hpp"
#include "common/base/file.hpp"
#include "common/base/hash.hpp"
#include "common/base/process.hpp"
#include "common/base/random.hpp"
#include "common/wire/json.hpp"
#include "coordinator/dispatch/worker_client.hpp"
#include "coordinator/store/store.hpp"
#include "coordinator/task/load.hpp"
#include "must.hpp"

namespace {

using namespace kernelpro;
using nlohmann::json;
namespace fs = std::filesystem;

constexpr NodeId node_count = 100'000;
constexpr NodeId duplicate_every = 10;
constexpr int load_repeats = 3;
// Sources are files beside the database; a few stand for all, as they do not change its size.
constexpr NodeId distinct_sources = 50;

double seconds_since(std::int64_t start) {
  return static_cast<double>(now_ns() - start) / 1e9;
}

Certificate judge_one(WorkerClient& worker, const Task& task) {
  OpenOrder open;
  open.task = task;
  must(worker.open(open));
  EvaluateOrder order;
  Candidate candidate;
  candidate.name = "good_register_blocked";
  candidate.source = must(read_file(fs::path(KERNELPRO_SOURCE_DIR) / "tasks/gemm/candidates" /
                                    (candidate.name + ".cpp")));
  candidate.options = {"-O3", "target", "openmp"};
  order.candidate = candidate;
  return must(worker.evaluate(order)).certificate;
}

std::string random_hash(Random& random) {
  return sha256(std::to_string(random.next()));
}

Key random_key(Random& random) {
  return derive(Key{}, 0, random.next());
}

// Within a tenth around `value`.
double near(double value, Random& random) {
  return value * (0.9 + 0.2 * random.unit());
}

Interval near(const Interval& interval, Random& random) {
  return {near(interval.low, random), near(interval.high, random)};
}

// A clock counts whole nanoseconds, and a round is a mean over its calls. Their median, and an
// interval that ends at rounds, as resampling them gives.
void vary_rounds(std::vector<double>& rounds, double& median, Interval& interval, int calls,
                 Random& random) {
  for (double& round : rounds) {
    round = std::round(near(round, random) * calls) / calls;
  }
  std::vector<double> sorted = rounds;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  median = (sorted[middle - 1] + sorted[middle]) / 2;
  interval = {sorted[1], sorted[sorted.size() - 2]};
}

void vary(ShapeTiming& timing, Random& random) {
  vary_rounds(timing.candidate_rounds, timing.candidate_ns, timing.candidate_interval, timing.calls,
              random);
  vary_rounds(timing.incumbent_rounds, timing.incumbent_ns, timing.incumbent_interval, timing.calls,
              random);
  timing.speedup = near(timing.speedup, random);
  timing.speedup_interval = near(timing.speedup_interval, random);
  timing.clock_gap = near(timing.clock_gap, random);
  timing.share_of_bound = timing.bound_ns / timing.candidate_ns;
}

// Checks at one shape stay at one shape. The bound follows from the shape.
void vary(std::vector<CheckRecord>& checks, Random& random) {
  std::map<Axes, Axes> drawn;
  std::map<double, double> bounds;
  for (CheckRecord& check : checks) {
    check.key = random_key(random);
    check.error = near(check.error, random);
    check.baseline_error = near(check.baseline_error, random);
    if (check.stage == Stage::timed_shapes) {
      continue;
    }
    if (!drawn.contains(check.shape)) {
      Axes shape = check.shape;
      for (auto& [axis, extent] : shape) {
        extent = 1 + static_cast<std::int64_t>(random.below(130));
      }
      drawn[check.shape] = shape;
    }
    check.shape = drawn[check.shape];
    check.bound = bounds.try_emplace(check.bound, near(check.bound, random)).first->second;
  }
}

// The incumbent stays, as it does for many nodes of a run.
void vary(Certificate& certificate, const std::string& source, Random& random) {
  certificate.candidate.source = source;
  certificate.build.source_hash = sha256(source);
  certificate.build.binary_hash = random_hash(random);
  certificate.master = random_key(random);
  certificate.date = fmt::format("2026-01-{:02}T{:02}:{:02}:{:02}Z", 1 + random.below(28),
                                 random.below(24), random.below(60), random.below(60));
  Verdict& verdict = certificate.verdict;
  vary(verdict.checks, random);
  for (ShapeTiming& timing : verdict.timing.shapes) {
    vary(timing, random);
  }
  verdict.timing.speedup = near(verdict.timing.speedup, random);
  verdict.timing.speedup_interval = near(verdict.timing.speedup_interval, random);
  verdict.build_ns = static_cast<std::int64_t>(1e9 + 1e9 * random.unit());
  verdict.judge_ns = static_cast<std::int64_t>(3e8 + 3e8 * random.unit());
}

// As the playbook and the tree search write them.
Node begun_node(NodeId id, const std::string& source, Random& random) {
  Node node;
  node.id = id;
  node.parent =
      id == root_node ? no_node : static_cast<NodeId>(random.below(static_cast<std::uint64_t>(id)));
  node.move = "register_block";
  node.site = "loops i, j";
  node.plan = fmt::format("Compute a block of {} by {} results in registers.", 1 + random.below(8),
                          4 * (1 + random.below(8)));
  node.predicted_gain = 1 + random.unit();
  for (std::uint64_t depth = 0; depth < 3; ++depth) {
    node.reasons.push_back(fmt::format("node {}: value {:.3f}, {} visits, score {:.3f}",
                                       random.below(100'000), random.unit(), random.below(1000),
                                       random.unit()));
  }
  node.source_hash = sha256(source);
  node.compiler = "clang++-19";
  node.options = {"-O3", "target", "openmp"};
  node.born = 2 * id + 1;
  node.candidate_key = random_hash(random);
  return node;
}

void finish(Node& node, const Certificate& certificate) {
  node.state = NodeState::judged;
  node.ended = node.born + 1;
  node.binary_hash = certificate.build.binary_hash;
  node.outcome = certificate.verdict.outcome;
  node.summary = certificate.verdict.summary;
  node.speedup = certificate.verdict.timing.speedup;
  node.speedup_interval = certificate.verdict.timing.speedup_interval;
  node.diagnosis.bottleneck = Bottleneck::compute;
  node.diagnosis.share_of_bound = 0.41;
  node.diagnosis.text = "41 % of the measured arithmetic rate of one core";
  node.build_ns = certificate.verdict.build_ns;
  node.judge_ns = certificate.verdict.judge_ns;
}

json fill(const fs::path& folder, const Task& task, const Certificate& judged) {
  Random random(1);
  std::vector<std::string> sources;
  sources.reserve(distinct_sources);
  for (NodeId i = 0; i < distinct_sources; ++i) {
    sources.push_back(judged.candidate.source + fmt::format("// variant {}\n", i));
  }
  Store store = must(Store::open(folder, StoreMode::write));
  Run run;
  run.created = "2026-01-01T00:00:00Z";
  run.program_version = KERNELPRO_VERSION;
  run.task = task;
  run.task_hash = task_hash(task);
  run.settings.evaluations = node_count;
  const RunLock lock = must(store.create_run(run));
  const std::int64_t start = now_ns();
  for (NodeId id = 0; id < node_count; ++id) {
    const std::string& source = sources[static_cast<std::size_t>(id % distinct_sources)];
    Certificate certificate = judged;
    vary(certificate, source, random);
    Node node = begun_node(id, source, random);
    must(store.add_node(run.id, node, source));
    if (id % duplicate_every == duplicate_every - 1) {
      node.state = NodeState::duplicate;
      node.same_as = node.parent;
      must(store.finish_node(run.id, node, nullptr));
    } else {
      finish(node, certificate);
      must(store.finish_node(run.id, node, &certificate));
    }
  }
  return {{"nodes", node_count},
          {"certificates", node_count - node_count / duplicate_every},
          {"checks", judged.verdict.checks.size()},
          {"timed_shapes", judged.verdict.timing.shapes.size()},
          {"rounds", judged.verdict.timing.shapes.front().candidate_rounds.size()},
          {"certificate_json_bytes", to_json(judged).dump().size()},
          {"seconds", seconds_since(start)}};
}

// In a process of its own, so that its memory is that of loading.
json load(const fs::path& folder) {
  const std::int64_t start = now_ns();
  const Store store = must(Store::open(folder, StoreMode::read));
  const double opened = seconds_since(start);
  const std::vector<Node> nodes = must(store.load_nodes("gemm-1"));
  const double loaded = seconds_since(start);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const std::int64_t listing = now_ns();
  const std::size_t runs = must(store.list_runs()).size();
  const double listed = seconds_since(listing);
  const std::int64_t reading = now_ns();
  const bool found = must(store.load_certificate("gemm-1", node_count / 2)).has_value();
  return {{"nodes", nodes.size()},
          {"open_seconds", opened},
          {"open_and_load_nodes_seconds", loaded},
          {"open_and_load_nodes_goal_seconds", 1.0},
          {"peak_rss_bytes", static_cast<std::int64_t>(usage.ru_maxrss) * 1024},
          {"peak_rss_goal_bytes", 200'000'000},
          {"runs", runs},
          {"list_runs_seconds", listed},
          {"certificate_found", found},
          {"load_certificate_seconds", seconds_since(reading)}};
}

json load_apart(const fs::path& folder, const std::string& program) {
  Command command;
  command.arguments = {program, folder.string()};
  const Finished done = must(run_command(command));
  if (!done.succeeded()) {
    give_up("loading failed: " + done.errors);
  }
  return must(parse_json(done.output));
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2) {
    fmt::print("{}\n", load(arguments[1]).dump());
    return 0;
  }
  json out = {{"bench", "store_size"},
              {"version", KERNELPRO_VERSION},
              {"sqlite", sqlite3_libversion()},
              {"zlib", zlibVersion()}};
  const Task task = must(load_task(fs::path(KERNELPRO_SOURCE_DIR) / "tasks/gemm"));
  Certificate judged;
  {
    WorkerClient worker = must(WorkerClient::start());
    const WorkerDescription description = must(worker.describe());
    out["machine"] = to_json(description.machine);
    for (const CompilerDescription& compiler : description.compilers) {
      out["compilers"].push_back(compiler.identity);
    }
    judged = judge_one(worker, task);
  }
  if (fs::is_directory("/dev/shm")) {
    setenv("TMPDIR", "/dev/shm", 1);
  }
  const ScratchDir scratch = must(ScratchDir::create("store-size"));
  fmt::print(stderr, "writing {} nodes\n", node_count);
  out["written"] = fill(scratch.path(), task, judged);
  out["file_bytes"] = fs::file_size(scratch.path() / "store.sqlite");
  out["file_goal_bytes"] = 200'000'000;
  out["place"] = scratch.path().parent_path().string();
  for (int i = 0; i < load_repeats; ++i) {
    out["loaded"].push_back(
        load_apart(scratch.path(), fs::read_symlink("/proc/self/exe").string()));
  }
  fmt::print("{}\n", out.dump(2));
  return 0;
}
