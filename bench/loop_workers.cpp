// What the loop gains by more workers, and what it takes itself, as one JSON value.
//
//   cmake --build --preset release && build/release/bin/loop_workers >
//   bench/results/loop_workers-NAME.json
//
// Arguments: another task, and another number of evaluations. A run of 200 evaluations is made on
// this machine with eight nodes under way. It is then repeated by one and by four workers that give
// the recorded answers after a tenth of the time that they took, and by four that answer at once:
// what is left then is the loop's own computing, which more workers do not shorten. Search, moves,
// journal and store are the real ones. About six minutes.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>

#include "common/base/clock.hpp"
#include "common/base/file.hpp"
#include "common/wire/json.hpp"
#include "coordinator/app/open_run.hpp"
#include "coordinator/app/run_work.hpp"
#include "coordinator/app/store_journal.hpp"
#include "coordinator/app/worker_laboratory.hpp"
#include "coordinator/loop/loop.hpp"
#include "coordinator/propose/candidate_key.hpp"
#include "must.hpp"

namespace {

using namespace kernelpro;
using nlohmann::json;

constexpr int under_way = 8;
constexpr double tenth = 0.1;

using JobName = std::pair<NodeId, std::int64_t>;  // node and phase

struct Answer {
  Evaluated evaluated;
  std::string source;
  std::int64_t ns = 0;
};

struct Recording {
  std::map<JobName, Answer> answers;
  std::map<std::string, BuildSummary> builds;  // by the candidate's key
  std::int64_t build_ns = 0;                   // of all

  [[nodiscard]] std::int64_t judging_ns() const {
    std::int64_t sum = 0;
    for (const auto& [name, answer] : answers) {
      sum += answer.ns;
    }
    return sum;
  }
};

// Passes everything on, and keeps what came back.
class Recorder : public Laboratory {
 public:
  explicit Recorder(Laboratory& inner) : inner_(inner) {}

  [[nodiscard]] bool times_here() const override { return inner_.times_here(); }
  Result<std::vector<BuildSummary>> build(const std::vector<Candidate>& candidates,
                                          std::stop_token stop) override {
    const std::int64_t start = now_ns();
    Result<std::vector<BuildSummary>> built = inner_.build(candidates, stop);
    const std::lock_guard lock(mutex_);
    recording_.build_ns += now_ns() - start;
    for (std::size_t i = 0; built && i < candidates.size(); ++i) {
      recording_.builds[candidate_key(candidates[i])] = (*built)[i];
    }
    return built;
  }
  Result<std::optional<Evaluated>> judge(const Job& job, std::stop_token stop) override {
    const std::int64_t start = now_ns();
    Result<std::optional<Evaluated>> answer = inner_.judge(job, stop);
    const std::lock_guard lock(mutex_);
    if (answer && *answer) {
      recording_.answers[{job.node, job.phase}] = {**answer, job.candidate.source,
                                                   now_ns() - start};
    }
    return answer;
  }
  [[nodiscard]] const Recording& recording() const { return recording_; }

 private:
  Laboratory& inner_;
  std::mutex mutex_;
  Recording recording_;
};

// So many workers that give the recorded answers, after a share of the time.
class Replayer : public Laboratory {
 public:
  Replayer(const Recording& recording, int workers, double share)
      : recording_(recording), workers_(workers), share_(share) {}

  [[nodiscard]] int workers() const override { return workers_; }
  Result<std::vector<BuildSummary>> build(const std::vector<Candidate>& candidates,
                                          std::stop_token /*stop*/) override {
    std::vector<BuildSummary> out;
    for (const Candidate& candidate : candidates) {
      const auto known = recording_.builds.find(candidate_key(candidate));
      out.push_back(known == recording_.builds.end() ? BuildSummary() : known->second);
    }
    const auto share = static_cast<double>(candidates.size()) /
                       static_cast<double>(std::max<std::size_t>(recording_.builds.size(), 1));
    rest(static_cast<std::int64_t>(share * static_cast<double>(recording_.build_ns)));
    return out;
  }
  Result<std::optional<Evaluated>> judge(const Job& job, std::stop_token /*stop*/) override {
    const auto known = recording_.answers.find({job.node, job.phase});
    if (known == recording_.answers.end() || known->second.source != job.candidate.source) {
      return make_error(ErrorKind::internal,
                        fmt::format("node {} is another than the recorded one", job.node));
    }
    rest(known->second.ns);
    return std::optional(known->second.evaluated);
  }

 private:
  void rest(std::int64_t recorded_ns) const {
    std::this_thread::sleep_for(
        std::chrono::nanoseconds(std::llround(share_ * static_cast<double>(recorded_ns))));
  }

  const Recording& recording_;
  int workers_;
  double share_;
};

OpenRun begin(const std::filesystem::path& store, const std::string& task,
              std::int64_t evaluations) {
  OptimizeRequest request;
  request.task = task;
  request.store = store;
  request.settings.evaluations = evaluations;
  request.settings.in_flight = under_way;
  request.settings.step = 1;
  request.settings.accept_suspect = true;  // a noisy machine changes the way, not the time
  return must(new_run(request, {}));
}

struct LoopOutcome {
  double seconds = 0;
  std::size_t nodes = 0;
  std::int64_t judged = 0;
};

LoopOutcome work(OpenRun open, Laboratory& laboratory, const WorkerDescription& machine) {
  const Playbook playbook = must(load_playbook(open.run, machine.compilers));
  const RunSettings& settings = open.run.settings;
  const std::unique_ptr<Search> search =
      must(make_search(settings.search, settings.preset, settings.seed));
  StoreJournal journal(open.store, open.run.id);
  std::int64_t judged = 0;
  ClosedLoop loop(
      open.run, *search, playbook, laboratory, journal, [&judged](const LoopProgress& progress) {
        if (progress.judged > judged && progress.judged % 20 == 0) {
          std::fprintf(stderr, "%s\n", fmt::format("{} judged", progress.judged).c_str());
        }
        judged = progress.judged;
      });
  const std::int64_t start = now_ns();
  must(loop.work({}, {}));
  return {static_cast<double>(now_ns() - start) / 1e9, loop.nodes().size(), judged};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string task = argc > 1 ? argv[1] : "gemm";
  const std::int64_t evaluations = argc > 2 ? std::stoll(argv[2]) : 200;
  const ScratchDir folder = must(ScratchDir::create("loop-workers"));
  OpenRun first = begin(folder.path() / "recorded", task, evaluations);
  const OpenOrder order{.task = first.run.task, .judging = first.run.settings.judging};
  const std::unique_ptr<WorkerLaboratory> laboratory =
      must(WorkerLaboratory::open({WorkerPlace()}, order, {}, {}, {}));
  const WorkerDescription machine = laboratory->machine();
  Recorder recorder(*laboratory);
  const LoopOutcome recorded = work(std::move(first), recorder, machine);
  const Recording& recording = recorder.recording();

  json replays = json::array();
  std::map<int, LoopOutcome> outcomes;
  const auto replay = [&](int workers, double share) {
    Replayer replayer(recording, workers, share);
    const std::string name = fmt::format("replayed_{}_{}", workers, share);
    const LoopOutcome outcome =
        work(begin(folder.path() / name, task, evaluations), replayer, machine);
    replays.push_back({{"workers", workers},
                       {"share_of_recorded_time", share},
                       {"seconds", outcome.seconds},
                       {"same_number_of_nodes", outcome.nodes == recorded.nodes}});
    return outcome;
  };
  for (const int workers : {1, 4}) {
    outcomes[workers] = replay(workers, tenth);
  }
  const double computing = replay(4, 0).seconds;
  const double worked = static_cast<double>(recording.judging_ns() + recording.build_ns) / 1e9;
  const json out = {{"bench", "loop_workers"},
                    {"version", KERNELPRO_VERSION},
                    {"machine", to_json(machine.machine)},
                    {"task", task},
                    {"evaluations", recorded.judged},
                    {"under_way", under_way},
                    {"recorded_seconds", recorded.seconds},
                    {"judging_seconds", static_cast<double>(recording.judging_ns()) / 1e9},
                    {"building_seconds", static_cast<double>(recording.build_ns) / 1e9},
                    {"loop_overhead", 1 - worked / recorded.seconds},
                    {"replays", replays},
                    {"loop_alone_seconds", computing},
                    {"four_over_one", outcomes[4].seconds / outcomes[1].seconds}};
  std::printf("%s\n", out.dump(2).c_str());
  return 0;
}
