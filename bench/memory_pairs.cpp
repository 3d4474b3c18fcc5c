// What lessons of one task save on another, and what inverted ones cost, as one JSON value.
//
//   cmake --build --preset release && build/release/bin/memory_pairs --cache FOLDER >
//   bench/results/memory_pairs-NAME.json
//
// Options: --evaluations N (36), --seeds N (3), --search NAME (mcts), --pairs ONE:OTHER,… (the
// fixed three). For each pair, both ways: a run on the one task fills a memory; runs on the other
// are told nothing, its lessons, or its lessons with the gains of the best and the worst exchanged.
// Counted are judged candidates until 95 % of the best that any of these runs found; twice the
// budget where that is never reached. Loop, search, moves and judge are the real ones; a candidate
// is judged once, against the baseline, and known to all runs after that, so that all see the same
// times. What was judged is kept in the folder of --cache, so that one that was stopped goes on
// quickly.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "common/base/file.hpp"
#include "common/wire/json.hpp"
#include "coordinator/app/run_memory.hpp"
#include "coordinator/app/run_work.hpp"
#include "coordinator/app/store_journal.hpp"
#include "coordinator/app/worker_laboratory.hpp"
#include "coordinator/loop/loop.hpp"
#include "coordinator/memory/memory.hpp"
#include "coordinator/propose/candidate_key.hpp"
#include "must.hpp"

namespace {

using namespace kernelpro;
using nlohmann::json;
namespace fs = std::filesystem;

struct Wishes {
  std::int64_t evaluations = 36;
  int seeds = 3;
  std::string search = "mcts";
  fs::path cache;
  std::vector<std::pair<std::string, std::string>> pairs = {
      {"gemm", "moe_grouped_gemm"}, {"softmax", "layernorm"}, {"kmeans_assign", "maxsim"}};
};

// Judges each candidate once, against the baseline; what was judged is kept in a file.
class KnownLaboratory : public Laboratory {
 public:
  KnownLaboratory(Laboratory& inner, fs::path file) : inner_(inner), file_(std::move(file)) {
    std::ifstream lines(file_);
    for (std::string line; !file_.empty() && std::getline(lines, line);) {
      const Result<json> known = parse_json(line);
      if (known && known->contains("certificate")) {
        Evaluated& one = known_[(*known)["key"]];
        one.certificate = must(certificate_from_json((*known)["certificate"]));
      }
    }
  }

  [[nodiscard]] bool times_here() const override { return inner_.times_here(); }
  Result<std::vector<BuildSummary>> build(const std::vector<Candidate>& candidates,
                                          std::stop_token stop) override {
    return inner_.build(candidates, stop);
  }
  Result<std::optional<Evaluated>> judge(const Job& job, std::stop_token stop) override {
    const std::string key = candidate_key(job.candidate);
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = known_.find(key); known != known_.end()) {
        return std::optional(known->second);
      }
    }
    Job alone = job;
    alone.incumbent.reset();
    alone.phase = 0;
    KP_LET(std::optional<Evaluated> evaluated, inner_.judge(alone, stop));
    if (evaluated && evaluated->certificate.verdict.outcome != Outcome::not_judged) {
      const std::lock_guard lock(mutex_);
      known_[key] = *evaluated;
      if (!file_.empty()) {
        std::ofstream(file_, std::ios::app)
            << json{{"key", key}, {"certificate", to_json(evaluated->certificate)}}.dump() << "\n";
      }
    }
    return evaluated;
  }

 private:
  Laboratory& inner_;
  fs::path file_;
  std::mutex mutex_;
  std::map<std::string, Evaluated> known_;
};

// One task, opened by a worker.
struct Bench {
  std::string task;
  std::unique_ptr<WorkerLaboratory> worker;
  std::unique_ptr<KnownLaboratory> laboratory;
};

// Speed-ups in the order in which they were judged; 0: it did not pass.
using Curve = std::vector<double>;

Curve run_once(const Wishes& wishes, Bench& bench, const fs::path& store, const fs::path& memory,
               std::uint64_t seed, bool teaches) {
  OptimizeRequest request;
  request.task = bench.task;
  request.store = store;
  request.settings.evaluations = wishes.evaluations;
  request.settings.search = wishes.search;
  request.settings.seed = seed;
  request.settings.in_flight = 1;
  request.settings.accept_suspect = true;  // as the machine is: all arms see the same times
  request.settings.memory = memory.empty() ? memory_off : memory.string();
  OpenRun open = must(new_run(request, {}));
  const Playbook playbook = must(load_playbook(open.run, bench.worker->machine().compilers));
  const std::unique_ptr<Search> search = must(make_search(wishes.search, "default", seed));
  StoreJournal journal(open.store, open.run.id);
  const Watcher nobody;
  RunMemory lessons(open, nobody);
  ClosedLoop loop(open.run, *search, playbook, *bench.laboratory, journal, {}, nullptr,
                  memory.empty() ? nullptr : &lessons);
  must(loop.work({}, {}));
  if (teaches) {
    lessons.teach();
  }
  Curve curve;
  for (const Node& node : loop.nodes()) {
    const bool charged = node.state == NodeState::judged && node.outcome != Outcome::not_judged;
    if (charged && node.id != root_node) {
      curve.push_back(may_be_best(open.run.settings, node) ? node.speedup : 0);
    }
  }
  return curve;
}

// The gains of the best and the worst exchanged, of the second best and the second worst …
void write_inverted(const fs::path& from, const fs::path& into) {
  memory::Memory memory = must(memory::Memory::open(from, StoreMode::read));
  std::vector<Lesson> lessons = must(memory.lessons());
  std::ranges::stable_sort(
      lessons, [](const Lesson& a, const Lesson& b) { return a.tally.useful < b.tally.useful; });
  std::vector<Lesson> inverted = lessons;
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    inverted[i].tally = lessons[lessons.size() - 1 - i].tally;
  }
  memory::Memory other = must(memory::Memory::open(into, StoreMode::write));
  (void)must(other.add(inverted, {}, "inverted"));
}

double tries_to(const Curve& curve, double goal, std::int64_t evaluations) {
  const auto found = std::ranges::find_if(curve, [goal](double one) { return one >= goal; });
  return found == curve.end() ? 2 * static_cast<double>(evaluations)
                              : static_cast<double>(found - curve.begin() + 1);
}

Bench open_bench(const Wishes& wishes, const std::string& task, const fs::path& folder) {
  OptimizeRequest request;
  request.task = task;
  request.store = folder / "opened";
  const Run run = must(planned_run(request, {}));
  Bench bench;
  bench.task = task;
  const OpenOrder order{.task = run.task, .judging = run.settings.judging};
  bench.worker = must(WorkerLaboratory::open({WorkerPlace()}, order, {}, {}, {}));
  bench.laboratory = std::make_unique<KnownLaboratory>(
      *bench.worker, wishes.cache.empty() ? fs::path() : wishes.cache / (task + ".jsonl"));
  return bench;
}

json one_way(const Wishes& wishes, const std::string& from, const std::string& to,
             const fs::path& folder) {
  const fs::path lessons = folder / (from + ".sqlite");
  const fs::path inverted = folder / (from + "_inverted.sqlite");
  if (!fs::exists(lessons)) {
    Bench source = open_bench(wishes, from, folder);
    (void)run_once(wishes, source, folder / "runs", lessons, 1, true);
    write_inverted(lessons, inverted);
  }
  Bench target = open_bench(wishes, to, folder);
  const std::map<std::string, fs::path> arms = {
      {"without", {}}, {"with", lessons}, {"inverted", inverted}};
  std::map<std::string, std::vector<Curve>> curves;
  double best = 0;
  for (int seed = 1; seed <= wishes.seeds; ++seed) {
    for (const auto& [arm, memory] : arms) {
      const Curve curve = run_once(wishes, target, folder / "runs", memory,
                                   static_cast<std::uint64_t>(seed), false);
      best = std::max(best, curve.empty() ? 0 : *std::ranges::max_element(curve));
      curves[arm].push_back(curve);
      std::fprintf(stderr, "%s\n",
                   fmt::format("{} to {}, seed {}, {}: best {:.2f}", from, to, seed, arm,
                               curve.empty() ? 0 : *std::ranges::max_element(curve))
                       .c_str());
    }
  }
  json out = {{"from", from}, {"to", to}, {"best_speedup", best}};
  std::map<std::string, double> mean_log;
  for (const auto& [arm, all] : curves) {
    json tries = json::array();
    for (const Curve& curve : all) {
      tries.push_back(tries_to(curve, 0.95 * best, wishes.evaluations));
      mean_log[arm] += std::log(tries.back().get<double>()) / static_cast<double>(all.size());
    }
    out["evaluations_to_95"][arm] = std::move(tries);
  }
  out["with_over_without"] = std::exp(mean_log["with"] - mean_log["without"]);
  out["inverted_over_without"] = std::exp(mean_log["inverted"] - mean_log["without"]);
  return out;
}

double geometric_mean(const json& ways, const char* key) {
  double sum = 0;
  for (const json& way : ways) {
    sum += std::log(way[key].get<double>());
  }
  return std::exp(sum / static_cast<double>(std::max<std::size_t>(ways.size(), 1)));
}

std::vector<std::pair<std::string, std::string>> parse_pairs(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::istringstream list(text);
  for (std::string one; std::getline(list, one, ',');) {
    const std::size_t colon = one.find(':');
    if (colon == std::string::npos) {
      give_up("expected ONE:OTHER, found " + one);
    }
    pairs.emplace_back(one.substr(0, colon), one.substr(colon + 1));
  }
  return pairs;
}

Wishes parse_wishes(int argc, char** argv) {
  Wishes wishes;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    const std::string value = argv[i + 1];
    if (flag == "--evaluations") {
      wishes.evaluations = std::stoll(value);
    } else if (flag == "--seeds") {
      wishes.seeds = std::stoi(value);
    } else if (flag == "--search") {
      wishes.search = value;
    } else if (flag == "--pairs") {
      wishes.pairs = parse_pairs(value);
    } else if (flag == "--cache") {
      wishes.cache = value;
      must(make_directories(wishes.cache));
    } else {
      give_up("unknown option " + flag);
    }
  }
  return wishes;
}

}  // namespace

int main(int argc, char** argv) {
  const Wishes wishes = parse_wishes(argc, argv);
  const ScratchDir folder = must(ScratchDir::create("memory-pairs"));
  json ways = json::array();
  for (const auto& [one, other] : wishes.pairs) {
    ways.push_back(one_way(wishes, one, other, folder.path()));
    ways.push_back(one_way(wishes, other, one, folder.path()));
  }
  const json out = {{"bench", "memory_pairs"},
                    {"version", KERNELPRO_VERSION},
                    {"evaluations", wishes.evaluations},
                    {"seeds", wishes.seeds},
                    {"search", wishes.search},
                    {"ways", ways},
                    {"with_over_without", geometric_mean(ways, "with_over_without")},
                    {"inverted_over_without", geometric_mean(ways, "inverted_over_without")}};
  std::printf("%s\n", out.dump(2).c_str());
  return 0;
}
