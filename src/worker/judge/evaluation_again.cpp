// An incumbent that is a candidate itself: it and who beats it are held against the baseline.
#include <fmt/format.h>

#include <algorithm>

#include "worker/judge/evaluation_run.hpp"
#include "worker/judge/purpose.hpp"

namespace kernelpro {

bool EvaluationRun::is_faster_than_candidate() const {
  const std::vector<ShapeTiming>& shapes = out_.verdict.timing.shapes;
  return request_.incumbent &&
         std::ranges::find(shapes, Comparison::faster, &ShapeTiming::comparison) != shapes.end();
}

// All that a candidate goes through, on other values and in a process of its own. Who keeps ours
// from the device there is to blame for it as in a first trial.
Result<Verdict> EvaluationRun::beside_baseline(const Candidate& candidate,
                                               const BuildOutcome& build, bool may_link,
                                               std::uint64_t purpose) {
  EvaluateRequest request;
  request.candidate = candidate;
  request.may_link = may_link;
  request.allow_precision = request_.allow_precision;
  request.master = derive(out_.master, purpose);
  EvaluationRun again(judge_, request, listener_, stop_);
  again.build_ = build;
  // What counts is how fast it can be, and that it is right all along. Who knows a screen would be
  // slow there and be looked at no further.
  again.screens_ = false;
  KP_TRY(again.start_baseline());
  KP_TRY(again.try_or_blame());
  Verdict& verdict = again.out_.verdict;
  verdict.outcome = again.failed_ ? verdict.outcome : Outcome::passed;
  return std::move(verdict);
}

// An incumbent that is a candidate may see that it is one, and take its time. Before anyone is
// called faster than it, it goes through all that a candidate goes through, and its best counts.
Status EvaluationRun::try_incumbent_as_candidate() {
  if (!is_faster_than_candidate()) {
    return {};
  }
  KP_LET(const Verdict own,
         beside_baseline(*request_.incumbent, incumbent_build_, false, incumbent_again_purpose));
  if (own.outcome != Outcome::passed) {
    // Whoever is slow on purpose could fail on purpose as well, and what it can do is not known.
    out_.verdict.suspicions.push_back("the incumbent does not pass as a candidate: " + own.summary);
    return {};
  }
  const std::vector<ShapeTiming>& shapes = out_.verdict.timing.shapes;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const ShapeTiming& best = own.timing.shapes[i];
    if (best.candidate_ns * (1 + best.budget.total()) < shapes[i].incumbent_ns) {
      alone_ns_[i] = std::min(alone_ns_[i], best.candidate_ns);
    }
  }
  return {};
}

// Two candidates may have one author, and leave out the same work in the same calls: beside each
// other their outputs agree, and only a few calls are held against the reference. So who is faster
// than a candidate has to pass beside the baseline as well, and its time there counts if it is
// longer.
Status EvaluationRun::try_candidate_beside_baseline() {
  if (!is_faster_than_candidate()) {
    return {};
  }
  KP_LET(Verdict own,
         beside_baseline(request_.candidate, build_, request_.may_link, candidate_again_purpose));
  if (own.outcome != Outcome::passed) {
    own.evidence.emplace_back("beside the baseline, after it had passed beside the incumbent");
    fail({own.outcome, own.rule, own.summary, own.evidence});
    return {};
  }
  keep_findings(out_.verdict, own);
  Timing& timing = out_.verdict.timing;
  for (std::size_t i = 0; i < timing.shapes.size(); ++i) {
    const double share = count_candidate_at_its_worst(timing.shapes[i], own.timing.shapes[i]);
    if (share > 1) {
      out_.verdict.remarks.push_back(
          fmt::format("the candidate took {:.0f} % longer beside the baseline: that counts",
                      100 * (share - 1)));
    }
  }
  combine_shapes(timing);
  return {};
}

}  // namespace kernelpro
