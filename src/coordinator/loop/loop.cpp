#include "coordinator/loop/loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>

#include "common/base/clock.hpp"
#include "coordinator/loop/candidate_name.hpp"
#include "coordinator/propose/candidate_key.hpp"
#include "coordinator/propose/diagnosis.hpp"

namespace kernelpro {

namespace {

constexpr double nanoseconds = 1e9;

// So many proposals of models in a row that nothing new came of end the run: models that cannot do
// it would be asked for ever.
constexpr std::int64_t most_fruitless = 5;

// Figures are for those who get no advice, or who may ask for either; they need room.
void leave_out_unwanted(Diagnosis& diagnosis, const RunSettings& settings) {
  if (settings.feedback == Feedback::raw) {
    diagnosis.findings.clear();
  } else if (!settings.llm || settings.llm->tools != ToolUse::reactive) {
    diagnosis.figures.clear();
  }
}

// Charges a run with the time since `started`, however it ends.
class WallTime {
 public:
  WallTime(Run& run, std::int64_t started) : run_(run), started_(started) {}
  WallTime(const WallTime&) = delete;
  WallTime& operator=(const WallTime&) = delete;
  ~WallTime() { run_.wall_ns = now_ns() - started_; }

 private:
  Run& run_;
  std::int64_t started_;
};

// The last nodes but those under way, of which no new candidate came; from `first` on.
std::vector<const Node*> fruitless_in_a_row(const std::vector<Node>& nodes, NodeId first) {
  std::vector<const Node*> found;
  for (auto one = nodes.rbegin(); one != nodes.rend() && one->id >= first; ++one) {
    if (one->state == NodeState::unwritten || one->state == NodeState::duplicate) {
      found.push_back(&*one);
    } else if (one->state == NodeState::judged) {
      break;
    }
  }
  return found;
}

}  // namespace

ClosedLoop::ClosedLoop(Run& run, Search& search, const Playbook& playbook, Laboratory& laboratory,
                       Journal& journal, LoopWatcher watcher, Author* author)
    : run_(run),
      search_(search),
      playbook_(playbook),
      laboratory_(laboratory),
      journal_(journal),
      watcher_(std::move(watcher)),
      author_(author),
      proposer_(run, playbook, journal, author) {}

//     task ──▶ propose ──▶ build ──▶ judge ──▶ diagnose ──▶ search
//                 ▲                                           │
//                 └────── what to try next, and why ◀─────────┘
Status ClosedLoop::work(const LoopHistory& history, std::stop_token stop) {
  started_ns_ = now_ns() - run_.wall_ns;
  const WallTime charged(run_, started_ns_);
  run_.awaited = {};
  KP_TRY(take_up(history));
  run_.state = RunState::running;
  std::optional<std::string> end;
  for (std::vector<NodeId> batch = nodes_in(NodeState::in_flight); !end;) {
    KP_TRY(write(batch, stop));
    KP_TRY(build(batch, stop));
    for (const NodeId id : batch) {
      KP_TRY(judge(id, stop));
    }
    end = halted(stop) ? halted(stop) : spent();
    if (!end) {
      const Result<bool> more = propose(batch, stop);
      if (!more) {
        return more.error();
      }
      end = *more ? std::nullopt : std::optional<std::string>("nothing is left to try");
    }
  }
  KP_TRY(measure_finalists(stop));
  conclude(*end, stop);
  return {};
}

Status ClosedLoop::confirm(const LoopHistory& history, std::stop_token stop) {
  started_ns_ = now_ns() - run_.wall_ns;
  const WallTime charged(run_, started_ns_);
  const Run before = run_;
  run_.awaited = {};
  KP_TRY(take_up(history));
  if (const Status measured = measure_finalists(stop); !measured || stop.stop_requested()) {
    run_ = before;
    return measured;
  }
  conclude(before.state == RunState::finished ? before.ended_because
                                              : spent().value_or("its finalists were measured"),
           stop);
  return {};
}

void ClosedLoop::conclude(const std::string& end, const std::stop_token& stop) {
  const std::optional<std::string> pause = halted(stop);
  const RunState paused = stop.stop_requested() ? RunState::interrupted : RunState::waiting;
  run_.state = pause ? paused : RunState::finished;
  run_.ended_because = pause.value_or(end);
  run_.best = best_;
}

// Tells the search again what it was told before, in the same order; what was in flight is judged
// first.
Status ClosedLoop::take_up(const LoopHistory& history) {
  run_.ranking.clear();
  nodes_ = history.nodes;
  for (const Node& one : nodes_) {
    known_keys_.insert(one.candidate_key);
  }
  // A run that ended for that, and is taken up nevertheless, may try again.
  first_proposal_ = run_.state == RunState::finished ? std::ssize(nodes_) : root_node;
  events_ = replay(history, search_, [this](const Node& one) { learn(one); });
  return nodes_.empty() ? add_root() : Status();
}

Status ClosedLoop::add_root() {
  const auto baseline = std::find_if(run_.task.baselines.begin(), run_.task.baselines.end(),
                                     [this](const ImplementationSpec& spec) {
                                       return spec.backend == run_.settings.judging.backend;
                                     });
  if (baseline == run_.task.baselines.end()) {
    return make_error(
        ErrorKind::bad_input,
        "the task has no baseline for the " + name_of(run_.settings.judging.backend) + " backend",
        run_.task.name);
  }
  Proposal proposal;
  proposal.plan = "the baseline";
  proposal.candidate.name = baseline->name;
  proposal.candidate.backend = baseline->backend;
  proposal.candidate.source = run_.task.files.at(baseline->file);
  proposal.candidate.compiler = baseline->compiler;
  proposal.candidate.options = baseline->options;
  return add_node({no_node, {}}, proposal, candidate_key(proposal.candidate));
}

std::vector<NodeId> ClosedLoop::nodes_in(NodeState state) const {
  std::vector<NodeId> out;
  for (const Node& one : nodes_) {
    if (one.state == state) {
      out.push_back(one.id);
    }
  }
  return out;
}

Status ClosedLoop::build(std::vector<NodeId>& batch, std::stop_token stop) {
  std::vector<Candidate> candidates;
  for (const NodeId id : batch) {
    Result<Candidate> candidate = proposer_.candidate_of(node(id));
    if (!candidate) {
      return candidate.error();
    }
    candidates.push_back(std::move(*candidate));
  }
  report(fmt::format("building {} candidate{}", batch.size(), batch.size() == 1 ? "" : "s"));
  // Whatever passes is read for its next moves: compilers work side by side, never beside a judge.
  const std::future<void> ahead = std::async(std::launch::async, [this, &candidates, &stop] {
    for (const Candidate& candidate : candidates) {
      playbook_.look_ahead(candidate, stop);
    }
  });
  const std::int64_t start = now_ns();
  const Result<std::vector<BuildSummary>> built = laboratory_.build(candidates, stop);
  run_.work_ns += now_ns() - start;
  ahead.wait();
  if (stop.stop_requested()) {
    return {};
  }
  if (!built) {
    return built.error();
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    Node& one = node(batch[i]);
    one.binary_hash = (*built)[i].binary_hash;
    const auto known = known_binaries_.find(one.binary_hash);
    if (!one.binary_hash.empty() && known != known_binaries_.end() && known->second != one.id) {
      one.state = NodeState::duplicate;
      one.same_as = known->second;
      one.summary = fmt::format("the same machine code as node {}", known->second);
      KP_TRY(end_node(one, nullptr));
    } else if (!one.binary_hash.empty()) {
      known_binaries_[one.binary_hash] = one.id;
    }
  }
  return {};
}

Status ClosedLoop::judge(NodeId id, std::stop_token stop) {
  Node& one = node(id);
  if (stop.stop_requested() || one.state != NodeState::in_flight) {
    return {};
  }
  report(fmt::format("judging node {}: {}", id, one.move.empty() ? "the baseline" : one.move));
  const Result<std::optional<Evaluated>> evaluated = evaluate(one, best_, 0, stop);
  if (stop.stop_requested()) {
    return {};
  }
  if (!evaluated) {
    return evaluated.error();
  }
  if (!*evaluated) {
    ++run_.awaited.results;
    return {};
  }
  const Certificate& certificate = (*evaluated)->certificate;
  take_verdict(one, certificate, id == root_node ? nullptr : &node(incumbent_of(certificate)));
  if ((*evaluated)->diagnosis && one.outcome == Outcome::passed) {
    one.diagnosis = diagnose(certificate.verdict.timing, *(*evaluated)->diagnosis);
    leave_out_unwanted(one.diagnosis, run_.settings);
  }
  if (id == root_node && one.outcome != Outcome::passed) {
    return make_error(
        ErrorKind::bad_input,
        "the baseline itself does not pass: " + one.summary + "; `kernelpro task check` says more",
        run_.task.name);
  }
  KP_TRY(end_node(one, &certificate));
  report("", &one);
  return {};
}

// Against `incumbent`; what is not judged is tried once more, since that is never its own fault.
Result<std::optional<Evaluated>> ClosedLoop::evaluate(const Node& one, NodeId incumbent,
                                                      std::int64_t phase, std::stop_token stop) {
  const Result<Candidate> candidate = proposer_.candidate_of(one);
  const Result<Candidate> other = proposer_.candidate_of(node(incumbent));
  if (!candidate || !other) {
    return candidate ? other.error() : candidate.error();
  }
  const std::int64_t start = now_ns();
  const auto against = incumbent == root_node ? std::nullopt : std::optional<Candidate>(*other);
  const bool energy = phase > 0 && needs_energy(run_.settings.objective);
  const bool profiled = phase == 0 && run_.settings.feedback != Feedback::none &&
                        traits_of(run_.settings.judging.backend).gpu;
  const Job job{one.id, phase, energy, profiled, *candidate, against};
  Result<std::optional<Evaluated>> evaluated = laboratory_.judge(job, stop);
  if (evaluated && *evaluated && (*evaluated)->certificate.verdict.outcome == Outcome::not_judged &&
      !stop.stop_requested()) {
    evaluated = laboratory_.judge(job, stop);
  }
  run_.work_ns += now_ns() - start;
  return evaluated;
}

NodeId ClosedLoop::incumbent_of(const Certificate& certificate) const {
  const NodeId id = node_named(certificate.incumbent.name);
  return id > root_node && id < std::ssize(nodes_) ? id : root_node;
}

void ClosedLoop::take_verdict(Node& one, const Certificate& certificate, const Node* incumbent) {
  const Verdict& verdict = certificate.verdict;
  one.state = NodeState::judged;
  one.outcome = verdict.outcome;
  one.rule = verdict.rule;
  one.summary = verdict.summary;
  one.precision = verdict.precision;
  one.suspect = verdict.suspect;
  one.verified = verdict.verified;
  one.binary_hash = certificate.build.binary_hash;
  one.build_ns = verdict.build_ns;
  one.judge_ns = verdict.judge_ns;
  one.confirmed = false;
  if (verdict.outcome != Outcome::passed) {
    return;
  }
  one.screened = std::any_of(verdict.timing.shapes.begin(), verdict.timing.shapes.end(),
                             [](const ShapeTiming& shape) { return shape.screened; });
  const double factor = incumbent == nullptr ? 1 : incumbent->speedup;
  one.speedup = one.id == root_node ? 1 : factor * verdict.timing.speedup;
  one.speedup_interval = {factor * verdict.timing.speedup_interval.low,
                          factor * verdict.timing.speedup_interval.high};
  one.at_least = verdict.timing.at_least || (incumbent != nullptr && incumbent->at_least);
  // What a profile said stays when the node is confirmed.
  if (one.diagnosis.kind == KernelClass::unknown && one.diagnosis.findings.empty()) {
    one.diagnosis = diagnose(verdict.timing);
  }
}

Status ClosedLoop::end_node(Node& one, const Certificate* certificate) {
  one.ended = ++events_;
  KP_TRY(journal_.ended(one, certificate));
  learn(one);
  return {};
}

// What an ended node teaches the search, the playbook and us; the same when a run is taken up
// again.
void ClosedLoop::learn(const Node& one) {
  const bool charged = one.state == NodeState::judged && one.outcome != Outcome::not_judged;
  search_.tell(search_result(one, run_.settings));
  if (!charged) {
    return;
  }
  known_binaries_.try_emplace(one.binary_hash, one.id);
  if (one.id == root_node) {
    return;
  }
  ++judged_;
  MoveRecord& record = records_[one.move];
  ++record.tried;
  const Node& parent = node(one.parent);
  if (one.outcome == Outcome::passed && parent.speedup > 0) {
    record.log_gain += std::max(0.0, std::log(one.speedup / parent.speedup));
  }
  if (may_be_best(run_.settings, one) &&
      one.speedup_interval.low > clear_of_best * node(best_).speedup) {
    best_ = one.id;
  }
}

std::optional<std::string> ClosedLoop::halted(const std::stop_token& stop) const {
  if (stop.stop_requested()) {
    return "interrupted";
  }
  std::string awaited;
  if (run_.awaited.results > 0) {
    awaited =
        fmt::format("{} result{}", run_.awaited.results, run_.awaited.results == 1 ? "" : "s");
  }
  if (run_.awaited.answers > 0) {
    awaited += fmt::format("{}{} proposal{} of models", awaited.empty() ? "" : " and ",
                           run_.awaited.answers, run_.awaited.answers == 1 ? "" : "s");
  }
  return awaited.empty() ? std::nullopt : std::optional("waiting for " + awaited);
}

std::optional<std::string> ClosedLoop::spent() const {
  if (judged_ >= run_.settings.evaluations) {
    return fmt::format("the budget of {} evaluations is spent", run_.settings.evaluations);
  }
  if (run_.settings.seconds > 0 && seconds() >= run_.settings.seconds) {
    return fmt::format("the budget of {:.0f} s is spent", run_.settings.seconds);
  }
  if (!models_spent_.empty()) {
    return models_spent_;
  }
  const std::vector<const Node*> fruitless = fruitless_in_a_row(nodes_, first_proposal_);
  if (author_ != nullptr && std::ssize(fruitless) >= most_fruitless) {
    return fmt::format("models gave nothing new {} times in a row; the last time: {}",
                       fruitless.size(), fruitless.front()->summary);
  }
  return std::nullopt;
}

double ClosedLoop::seconds() const {
  return static_cast<double>(now_ns() - started_ns_) / nanoseconds;
}

void ClosedLoop::report(const std::string& doing, const Node* last, const Verdict* final) const {
  if (!watcher_) {
    return;
  }
  LoopProgress progress;
  progress.judged = judged_;
  progress.budget = run_.settings.evaluations;
  progress.seconds = seconds();
  if (judged_ > 0) {
    const double pace = progress.seconds / static_cast<double>(judged_);
    progress.seconds_left = pace * static_cast<double>(run_.settings.evaluations - judged_);
  }
  if (run_.settings.seconds > 0) {
    const double left = std::max(0.0, run_.settings.seconds - progress.seconds);
    progress.seconds_left = judged_ > 0 ? std::min(progress.seconds_left, left) : left;
  }
  progress.best = best_;
  progress.best_speedup = nodes_.empty() ? 1 : node(best_).speedup;
  progress.best_at_least = !nodes_.empty() && node(best_).at_least;
  progress.doing = doing;
  progress.last = last;
  progress.final = final;
  watcher_(progress);
}

}  // namespace kernelpro
