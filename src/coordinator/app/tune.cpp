#include "coordinator/app/tune.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "common/model/tunables.hpp"
#include "common/wire/orders_json.hpp"
#include "coordinator/app/opening.hpp"
#include "coordinator/app/worker_laboratory.hpp"
#include "coordinator/dispatch/worker_client.hpp"
#include "coordinator/tune/source_space.hpp"
#include "coordinator/tune/tuner.hpp"

namespace kernelpro {

namespace {

// The start, one other, and the check at the end.
constexpr int least_evaluations = 3;

class TuneRun {
 public:
  TuneRun(const TuneRequest& request, WorkerClient& worker, const TuneSpace& space, Candidate given,
          const Watcher& watcher, std::stop_token stop)
      : request_(request),
        worker_(worker),
        space_(space),
        given_(std::move(given)),
        watcher_(watcher),
        stop_(std::move(stop)),
        tuner_(space, request.seed) {}

  Result<TuneResult> run(Code present) {
    KP_TRY(judge_given(present));
    // One is left for the check at the end.
    while (out_.evaluations < request_.evaluations - 1) {
      const std::optional<Code> code = tuner_.ask();
      if (!code) {
        break;
      }
      KP_TRY(try_code(*code));
    }
    KP_TRY(confirm());
    return std::move(out_);
  }

 private:
  [[nodiscard]] Result<Candidate> candidate_at(Code code) const {
    Candidate candidate = given_;
    candidate.name = fmt::format("{}_{}", given_.name, out_.tried.size());
    KP_LET(candidate.source, source_at(given_.source, space_, code));
    return candidate;
  }

  [[nodiscard]] Result<Evaluated> evaluate(const Candidate& candidate) {
    EvaluateOrder order;
    order.candidate = candidate;
    order.allow_precision = request_.allow_precision;
    if (!out_.tried.empty() && !out_.over_baseline) {
      order.incumbent = given_;
    }
    tell(watcher_, Activity{fmt::format("{}/{}: best so far {:.2f}x", out_.evaluations + 1,
                                        request_.evaluations, best_speedup())});
    ++out_.evaluations;
    return worker_.evaluate(order, stop_);
  }

  [[nodiscard]] Status judge_given(Code present) {
    KP_LET(const std::string hash, built(given_));
    KP_LET(const Evaluated evaluated, evaluate(given_));
    out_.over_baseline = evaluated.certificate.verdict.outcome != Outcome::passed;
    Tuned tuned = tuned_of(present, evaluated);
    tuned.speedup = out_.over_baseline ? 0 : 1;
    take(present, std::move(tuned), hash);
    out_.source = given_.source;
    return {};
  }

  [[nodiscard]] Status try_code(Code code) {
    KP_LET(const Candidate candidate, candidate_at(code));
    KP_LET(const std::string hash, built(candidate));
    if (const auto same = by_hash_.find(hash); !hash.empty() && same != by_hash_.end()) {
      Tuned tuned = out_.tried[same->second];
      tuned.values = space_.text(code);
      tuned.duplicate = true;
      take(code, std::move(tuned), hash);
      return {};
    }
    KP_LET(const Evaluated evaluated, evaluate(candidate));
    const double before = best_speedup();
    take(code, tuned_of(code, evaluated), hash);
    const Tuned& tuned = out_.tried.back();
    if (tuned.outcome == Outcome::passed && tuned.speedup > before) {
      out_.best = out_.tried.size() - 1;
      out_.source = candidate.source;
    }
    return {};
  }

  // The hash of its machine code; empty where it does not build.
  [[nodiscard]] Result<std::string> built(const Candidate& candidate) {
    KP_LET(const std::vector<BuildSummary> summaries, worker_.build({candidate}, stop_));
    return summaries.front().binary_hash;
  }

  [[nodiscard]] Tuned tuned_of(Code code, const Evaluated& evaluated) const {
    const Verdict& verdict = evaluated.certificate.verdict;
    const bool passed = verdict.outcome == Outcome::passed;
    // What is in doubt may never be the best.
    const bool sound = passed && !verdict.suspect;
    return {space_.text(code), verdict.outcome, sound ? verdict.timing.speedup : 0, verdict.summary,
            false};
  }

  void take(Code code, Tuned tuned, const std::string& hash) {
    const bool judged = tuned.outcome != Outcome::not_judged;
    if (judged) {
      tuner_.tell({code, tuned.speedup > 0 ? std::optional(1 / tuned.speedup) : std::nullopt});
      by_hash_.try_emplace(hash, out_.tried.size());
    }
    out_.tried.push_back(std::move(tuned));
  }

  [[nodiscard]] double best_speedup() const {
    return out_.tried.empty() ? 0 : out_.tried[out_.best].speedup;
  }

  // The fastest of many was lucky too: what is claimed is measured anew.
  [[nodiscard]] Status confirm() {
    if (out_.best == 0) {
      return {};
    }
    Candidate candidate = given_;
    candidate.name = given_.name + "_tuned";
    candidate.source = out_.source;
    KP_LET(Evaluated evaluated, evaluate(candidate));
    out_.confirmed = std::move(evaluated);
    return {};
  }

  const TuneRequest& request_;
  WorkerClient& worker_;
  const TuneSpace& space_;
  Candidate given_;
  const Watcher& watcher_;
  std::stop_token stop_;
  Tuner tuner_;
  TuneResult out_;
  std::map<std::string, std::size_t> by_hash_;  // of machine code, its place in `tried`
};

Status check_request(const TuneRequest& request) {
  if (request.evaluations < least_evaluations) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("expected {} or more: the source as it is, one other, and the "
                                  "check of the best",
                                  least_evaluations),
                      "--evaluations");
  }
  if (request.workers.scheme != WorkerScheme::live || request.workers.places.size() != 1) {
    return make_error(ErrorKind::bad_input,
                      "tuning is done by one worker: local, local:DEVICE or cmd:COMMAND",
                      "--workers");
  }
  return check_places(request.workers.places, request.judging);
}

}  // namespace

Result<TuneResult> tune(const TuneRequest& request, const Watcher& watcher, std::stop_token stop) {
  KP_TRY(check_request(request));
  KP_LET(const Task task, load_named_task(request.task));
  KP_LET(Candidate given,
         load_candidate(request.source, task, request.judging.backend, request.build));
  KP_LET(const std::vector<Tunable> tunables, parse_tunables(given.source));
  if (tunables.empty()) {
    return make_error(ErrorKind::bad_input,
                      "the source has no tunables; expected lines as \"// kp:tune BLOCK = 16 32 "
                      "64\", each above its definition",
                      request.source);
  }
  KP_LET(const TuneSpace space, space_of(tunables));
  const WorkerPlace& place = request.workers.places.front();
  KP_LET(WorkerClient worker, WorkerClient::start(place, stop));
  tell(watcher, Activity{task.name + ": opening (reference, baseline, ceilings, noise floor)"});
  OpenOrder open;
  open.task = task;
  open.judging = judging_at(place, request.judging);
  KP_TRY(open_task(worker, open, stop));
  KP_LET(const Code present, code_of(space, tunables));
  KP_LET(TuneResult result,
         TuneRun(request, worker, space, std::move(given), watcher, stop).run(present));
  if (!request.into.empty()) {
    KP_TRY(write_file_atomic(request.into, result.source));
  }
  return result;
}

nlohmann::json to_json(const TuneResult& result) {
  nlohmann::json tried = nlohmann::json::array();
  for (const Tuned& one : result.tried) {
    tried.push_back({{"values", one.values},
                     {"outcome", name_of(one.outcome)},
                     {"speedup", one.speedup},
                     {"summary", one.summary},
                     {"duplicate", one.duplicate}});
  }
  nlohmann::json json = {{"tried", std::move(tried)},
                         {"best", result.best},
                         {"evaluations", result.evaluations},
                         {"over_baseline", result.over_baseline},
                         {"source", result.source}};
  if (result.confirmed) {
    json["confirmed"] = to_json(*result.confirmed);
  }
  return json;
}

}  // namespace kernelpro
