#include "coordinator/loop/loop.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/clock.hpp"
#include "coordinator/propose/candidate_key.hpp"

namespace kernelpro {

namespace {

// So many proposals of models in a row that nothing new came of end the run: models that cannot do
// it would be asked for ever.
constexpr std::int64_t most_fruitless = 5;

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

// The pipeline lives as long as the loop works: it uses what the caller owns.
class Discard {
 public:
  explicit Discard(std::optional<Pipeline>& pipeline) : pipeline_(pipeline) {}
  Discard(const Discard&) = delete;
  Discard& operator=(const Discard&) = delete;
  ~Discard() { pipeline_.reset(); }

 private:
  std::optional<Pipeline>& pipeline_;
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
                       Journal& journal, LoopWatcher watcher, Author* author, LessonSource* lessons)
    : run_(run),
      search_(search),
      playbook_(playbook),
      laboratory_(laboratory),
      journal_(journal),
      watcher_(std::move(watcher)),
      author_(author),
      lessons_(lessons),
      proposer_(run, playbook, journal, author),
      sweeps_(run) {}

//     task ──▶ propose ──▶ write ──▶ build ──▶ judge ──▶ diagnose ──▶ search
//                 ▲                                                   │
//                 └────────── what to try next, and why ◀─────────────┘
//
// Many nodes are under way at a time, and answers arrive in any order. They are taken in the order
// of the proposals: so a run is the same with one worker and with twenty.
Status ClosedLoop::work(const LoopHistory& history, std::stop_token stop) {
  started_ns_ = now_ns() - run_.wall_ns;
  const WallTime charged(run_, started_ns_);
  run_.awaited = {};
  pipeline_.emplace(laboratory_, author_, playbook_, stop);
  const Discard discard(pipeline_);
  KP_TRY(take_up(history));
  KP_TRY(start_all());
  run_.state = RunState::running;
  std::optional<std::string> end;
  while (!stop.stop_requested()) {
    end = spent();
    if (!end && has_room()) {
      KP_LET(const bool proposed, propose(stop));
      if (proposed) {
        continue;
      }
      end = "nothing is left to try";
    }
    if (underway_.empty()) {
      break;
    }
    KP_LET(const bool answered, await_oldest());
    if (answered) {
      KP_TRY(end_oldest());
    } else if (!underway_.empty()) {
      break;
    }
  }
  KP_TRY(measure_finalists(stop));
  conclude(end.value_or(""), stop);
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

// Tells the search again what it was told before, in the same order.
Status ClosedLoop::take_up(const LoopHistory& history) {
  run_.ranking.clear();
  nodes_ = history.nodes;
  if (history.recollection) {
    proposer_.recall(*history.recollection);
    lessons_ = nullptr;
    KP_TRY(correct_root());
  }
  for (const Node& one : nodes_) {
    // What models write counts as known once it has ended, in the order of the proposals.
    if (!one.by_models || one.ended > 0) {
      known_keys_.insert(one.candidate_key);
    }
  }
  // A run that ended for that, and is taken up nevertheless, may try again.
  first_proposal_ = run_.state == RunState::finished ? std::ssize(nodes_) : root_node;
  Status swept;
  const auto born = [this, &swept](const Node& one) {
    swept = swept ? sweep_again(one) : swept;
    if (one.ended == 0) {
      underway_[one.id].incumbent = best_;
    }
    filling_ = true;
  };
  const auto ended = [this](const Node& one) {
    learn(one);
    filling_ = false;
  };
  events_ = replay(history, search_, ended, born);
  KP_TRY(std::move(swept));
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

bool ClosedLoop::has_room() {
  const RunSettings& settings = run_.settings;
  const std::int64_t under_way = std::ssize(underway_);
  const std::int64_t step = settings.step > 0 ? settings.step : settings.in_flight;
  filling_ = filling_ || under_way <= std::max<std::int64_t>(settings.in_flight - step, 0);
  filling_ = filling_ && !underway_.contains(root_node) &&
             under_way < std::min<std::int64_t>(settings.in_flight, settings.evaluations - judged_);
  return filling_;
}

Status ClosedLoop::start_all() {
  for (const Node& one : nodes_) {
    if (underway_.contains(one.id)) {
      KP_TRY(start(one.id));
    }
  }
  return {};
}

Status ClosedLoop::start(NodeId id) {
  const Node& one = node(id);
  Underway& under_way = underway_.at(id);
  if (one.state == NodeState::proposing) {
    if (author_ == nullptr) {
      return make_error(ErrorKind::bad_input,
                        "models are to write nodes of this run, and it names none: give --llm");
    }
    KP_LET(AgentOrder order, proposer_.order_for(one, nodes_));
    under_way.stage = Underway::Stage::writing;
    pipeline_->write(std::move(order));
    return {};
  }
  // Its answer may be here already: it came while an older node was under way.
  KP_LET(std::optional<Certificate> known, journal_.certificate(id));
  if (known) {
    under_way.stage = Underway::Stage::done;
    under_way.evaluated.emplace();
    under_way.evaluated->certificate = std::move(*known);
    return {};
  }
  KP_LET(Candidate candidate, proposer_.candidate_of(one));
  under_way.stage = Underway::Stage::building;
  pipeline_->build(id, std::move(candidate));
  return {};
}

Result<bool> ClosedLoop::await_oldest() {
  const auto answered = [this] {
    return !underway_.empty() && underway_.begin()->second.stage == Underway::Stage::done;
  };
  Status trouble;
  const std::int64_t start = now_ns();
  while (!answered() || !trouble) {
    report(doing());
    std::optional<Step> step = pipeline_->next();
    if (!step) {
      break;
    }
    // What the others wrote and measured is kept, whatever happened to one.
    if (const Status taken = take_step(std::move(*step)); !taken && trouble) {
      trouble = taken;
    }
  }
  run_.work_ns += now_ns() - start;
  return trouble ? Result<bool>(answered()) : trouble.error();
}

Status ClosedLoop::take_step(Step step) {
  const auto known = underway_.find(step.node);
  if (known == underway_.end()) {
    return {};
  }
  Node& one = node(step.node);
  if (auto* const written = std::get_if<Proposed>(&step.what)) {
    return take_written(one, *written);
  }
  if (auto* const summary = std::get_if<BuildSummary>(&step.what)) {
    return take_build(one, *summary);
  }
  if (auto* const evaluated = std::get_if<std::optional<Evaluated>>(&step.what)) {
    return take_answer(one, std::move(*evaluated));
  }
  return std::get<Error>(step.what);
}

Status ClosedLoop::take_build(Node& one, const BuildSummary& summary) {
  one.binary_hash = summary.binary_hash;
  Underway& under_way = underway_.at(one.id);
  Node looked_at = one;
  if (is_duplicate(looked_at)) {
    under_way.stage = Underway::Stage::done;
    return {};
  }
  KP_LET(Job job, job_for(one, under_way.incumbent, 0));
  under_way.stage = Underway::Stage::judging;
  pipeline_->judge(std::move(job));
  return {};
}

Status ClosedLoop::take_answer(Node& one, std::optional<Evaluated> evaluated) {
  Underway& under_way = underway_.at(one.id);
  if (!evaluated) {
    under_way.stage = Underway::Stage::waiting;
    ++run_.awaited.results;
    return {};
  }
  under_way.stage = Underway::Stage::done;
  under_way.evaluated = std::move(evaluated);
  Node answered = one;
  take_evaluated(answered, *under_way.evaluated);
  if (one.parent != no_node && answered.speedup > node(one.parent).speedup) {
    KP_LET(Candidate candidate, proposer_.candidate_of(one));
    pipeline_->read_ahead(std::move(candidate));
  }
  if (one.id == underway_.begin()->first) {
    return {};
  }
  answered.state = NodeState::in_flight;
  return journal_.answered(answered, under_way.evaluated->certificate);
}

Status ClosedLoop::end_oldest() {
  const auto oldest = underway_.extract(underway_.begin());
  const Underway& what = oldest.mapped();
  Node& one = node(oldest.key());
  if (!what.unwritten.empty()) {
    return end_unwritten(one, what.unwritten);
  }
  known_keys_.insert(one.candidate_key);
  if (is_duplicate(one)) {
    return end_node(one, nullptr);
  }
  return end_judged(one, *what.evaluated);
}

Result<Job> ClosedLoop::job_for(const Node& one, NodeId incumbent, std::int64_t phase) const {
  Result<Candidate> candidate = proposer_.candidate_of(one);
  Result<Candidate> other = proposer_.candidate_of(node(incumbent));
  if (!candidate || !other) {
    return candidate ? other.error() : candidate.error();
  }
  Job job;
  job.node = one.id;
  job.phase = phase;
  job.brief = phase == 0;
  job.energy = phase > 0 && needs_energy(run_.settings.objective);
  job.diagnose = phase == 0 && run_.settings.feedback != Feedback::none;
  if (!traits_of(run_.settings.judging.backend).gpu && one.parent != no_node) {
    // Those that are no faster are hardly ever built upon, and time on processors is for judging.
    job.diagnose_above = node(one.parent).speedup / node(incumbent).speedup;
  }
  job.candidate = std::move(*candidate);
  if (incumbent != root_node) {
    job.incumbent = std::move(*other);
  }
  return job;
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

std::optional<std::string> ClosedLoop::near_the_bound() const {
  const double share = node(best_).diagnosis.share_of_bound;
  if (run_.settings.stop_at <= 0 || best_ == root_node || share < run_.settings.stop_at) {
    return std::nullopt;
  }
  return fmt::format("node {} has {:.0f} % of the bound, and {:.0f} % were asked for", best_,
                     100 * share, 100 * run_.settings.stop_at);
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
  if (std::optional<std::string> near = near_the_bound()) {
    return near;
  }
  const std::vector<const Node*> fruitless = fruitless_in_a_row(nodes_, first_proposal_);
  if (author_ != nullptr && std::ssize(fruitless) >= most_fruitless) {
    return fmt::format("models gave nothing new {} times in a row; the last time: {}",
                       fruitless.size(), fruitless.front()->summary);
  }
  return std::nullopt;
}

}  // namespace kernelpro
