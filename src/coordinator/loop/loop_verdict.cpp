// What the loop makes of a verdict.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "coordinator/loop/candidate_name.hpp"
#include "coordinator/loop/loop.hpp"
#include "coordinator/propose/diagnosis.hpp"

namespace kernelpro {

namespace {

// Figures are for those who get no advice, or who may ask for either; they need room.
void leave_out_unwanted(Diagnosis& diagnosis, const RunSettings& settings) {
  if (settings.feedback == Feedback::raw) {
    diagnosis.findings.clear();
  } else if (!settings.llm || settings.llm->tools != ToolUse::reactive) {
    diagnosis.figures.clear();
  }
}

// 0 where neither of the two was timed beside other programs.
double likely_speedup(const Node& one, const Timing& timing, const Node* incumbent) {
  const bool disturbed = timing.likely > 0 || (incumbent != nullptr && incumbent->likely > 0);
  if (one.id == root_node || !disturbed) {
    return 0;
  }
  const double factor = incumbent == nullptr ? 1 : expected_speedup(*incumbent);
  return factor * (timing.likely > 0 ? timing.likely : timing.speedup);
}

}  // namespace

bool ClosedLoop::is_duplicate(Node& one) const {
  for (const Node& other : nodes_) {
    const bool same_key = other.candidate_key == one.candidate_key;
    const bool same_code = !one.binary_hash.empty() && other.binary_hash == one.binary_hash;
    if (other.id < one.id && !other.candidate_key.empty() && (same_key || same_code)) {
      one.state = NodeState::duplicate;
      one.same_as = other.state == NodeState::duplicate ? other.same_as : other.id;
      one.summary = fmt::format("the same {} as node {}", same_key ? "candidate" : "machine code",
                                one.same_as);
      return true;
    }
  }
  return false;
}

Status ClosedLoop::end_judged(Node& one, const Evaluated& evaluated) {
  take_evaluated(one, evaluated);
  if (one.id == root_node && one.outcome != Outcome::passed) {
    return make_error(
        ErrorKind::bad_input,
        "the baseline itself does not pass: " + one.summary + "; `kernelpro task check` says more",
        run_.task.name);
  }
  KP_TRY(end_node(one, &evaluated.certificate));
  report("", &one);
  return {};
}

void ClosedLoop::take_evaluated(Node& one, const Evaluated& evaluated) const {
  const Certificate& certificate = evaluated.certificate;
  take_verdict(one, certificate, one.id == root_node ? nullptr : &node(incumbent_of(certificate)));
  if (evaluated.diagnosis && one.outcome == Outcome::passed) {
    one.diagnosis = diagnose(certificate.verdict.timing, *evaluated.diagnosis);
    leave_out_unwanted(one.diagnosis, run_.settings);
    proposer_.correct(one.diagnosis, certificate);
  }
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
  one.likely = likely_speedup(one, verdict.timing, incumbent);
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

// A sweep is one trial of its move, whatever it takes.
void ClosedLoop::credit_move(const Node& one) {
  const Node& judged = one.same_as == no_node ? one : node(one.same_as);
  if (const std::optional<Sweeps::Credit> credit = sweeps_.ended(one, judged)) {
    MoveRecord& record = experience_.records[one.move];
    record.tried += credit->first ? 1 : 0;
    record.log_gain += credit->log_gain;
    return;
  }
  if (one.state != NodeState::judged || one.outcome == Outcome::not_judged) {
    return;
  }
  MoveRecord& record = experience_.records[one.move];
  ++record.tried;
  const Node& parent = node(one.parent);
  if (one.outcome == Outcome::passed && parent.speedup > 0) {
    record.log_gain += std::max(0.0, std::log(expected_speedup(one) / expected_speedup(parent)));
  }
}

// What an ended node teaches the search, the playbook and us; the same when a run is taken up
// again.
void ClosedLoop::learn(const Node& one) {
  const bool charged = one.state == NodeState::judged && one.outcome != Outcome::not_judged;
  search_.tell(search_result(one, run_.settings));
  if (one.id == root_node) {
    return;
  }
  credit_move(one);
  if (!charged) {
    return;
  }
  ++judged_;
  experience_.trust = proposer_.trust_after(one, nodes_);
  if (may_be_best(run_.settings, one) &&
      one.speedup_interval.low > clear_of_best * node(best_).speedup) {
    best_ = one.id;
  }
}

}  // namespace kernelpro
