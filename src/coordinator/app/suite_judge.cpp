#include "coordinator/app/suite_judge.hpp"

#include <algorithm>

#include "common/base/file.hpp"
#include "coordinator/app/candidate_file.hpp"
#include "coordinator/app/header_folders.hpp"
#include "coordinator/app/opening.hpp"
#include "coordinator/task/load.hpp"
#include "coordinator/task/torch_problem.hpp"

namespace kernelpro {
namespace {

void take_verdict(const Verdict& verdict, SuiteCandidate& candidate) {
  candidate.outcome = verdict.outcome;
  candidate.rule = verdict.rule;
  candidate.summary = verdict.summary;
  candidate.precision = verdict.precision;
  candidate.suspect = verdict.suspect;
  candidate.verified = verdict.verified;
  if (verdict.outcome == Outcome::passed && !verdict.timing.shapes.empty()) {
    const ShapeTiming& shape = verdict.timing.shapes.front();
    candidate.time_ns = shape.candidate_ns;
    candidate.share_of_bound = shape.share_of_bound;
    candidate.speedup = verdict.timing.speedup;
    candidate.speedup_interval = verdict.timing.speedup_interval;
    candidate.noise_floor = verdict.timing.noise_floor;
  }
}

void take_findings(const std::vector<LintFinding>& findings, std::vector<std::string>& degenerate) {
  for (const LintFinding& finding : findings) {
    if (finding.level == LintLevel::error && std::ranges::count(degenerate, finding.text) == 0) {
      degenerate.push_back(finding.text);
    }
  }
}

// Why a candidate cannot be judged on this problem; empty: it can.
std::string hindrance(const SuiteRecord& record) {
  return record.refused.empty() ? record.failed : record.refused;
}

}  // namespace

Result<WorkerClient*> SuiteJudge::worker() {
  if (!worker_) {
    KP_LET(WorkerClient started,
           WorkerClient::start(request_.search.settings.workers.places.front()));
    worker_.emplace(std::move(started));
  }
  return &*worker_;
}

Result<WorkerDescription> SuiteJudge::describe(std::stop_token stop) {
  const Result<WorkerClient*> client = worker();
  return client ? (*client)->describe(stop) : Result<WorkerDescription>(client.error());
}

Result<Task> SuiteJudge::make_task(const SuiteProblem& problem, const SuiteRecord& record) const {
  KP_LET(const ScratchDir scratch, ScratchDir::create("suite"));
  NewProblem wanted;
  wanted.checkout = request_.checkout;
  wanted.level = problem.id.level;
  wanted.problem = problem.id.number;
  wanted.directory = scratch.path();
  wanted.script = script_;
  wanted.described = record.described;
  const Result<ProblemTask> made = create_problem_task(wanted);
  return made ? load_task(made->folder) : Result<Task>(made.error());
}

Result<Verdict> SuiteJudge::verdict_on(const SuiteProblem& problem,
                                       const std::filesystem::path& source, SuiteRecord& record,
                                       const EventListener& listener, std::stop_token stop) {
  KP_LET(const Task task, make_task(problem, record));
  const RunSettings& settings = request_.search.settings;
  KP_LET(const Candidate candidate,
         load_candidate(source.string(), task, settings.judging.backend));
  KP_LET(WorkerClient * client, worker());
  client->on_event(listener);
  // Degenerate problems are judged too: the table has a column with them and others without.
  KP_LET(const OpenOrder opening, with_headers({.task = task, .judging = settings.judging}));
  KP_LET(const Opened opened, client->open(opening, stop));
  take_findings(opened.findings, record.degenerate);
  EvaluateOrder order;
  order.candidate = candidate;
  order.allow_precision = settings.allow_precision;
  const Result<Evaluated> evaluated = client->evaluate(order, stop);
  return evaluated ? evaluated->certificate.verdict : Result<Verdict>(evaluated.error());
}

Status SuiteJudge::judge(const SuiteProblem& problem, const std::filesystem::path& source,
                         const std::string& source_hash, SuiteRecord& record,
                         const EventListener& listener, std::stop_token stop) {
  SuiteCandidate out;
  out.source_hash = source_hash;
  out.allow_precision = request_.search.settings.allow_precision;
  out.summary = hindrance(record);
  if (out.summary.empty()) {
    const Result<Verdict> verdict = verdict_on(problem, source, record, listener, stop);
    if (verdict) {
      take_verdict(*verdict, out);
    } else if (verdict.error().kind == ErrorKind::interrupted) {
      return verdict.error();
    } else {
      out.summary = verdict.error().text();
      worker_.reset();  // a fresh one for the next, whatever this one suffered
    }
  }
  record.candidate = std::move(out);
  return {};
}

}  // namespace kernelpro
