#include "worker/judge/verdict_sum.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/printable.hpp"
#include "worker/judge/statistics.hpp"
#include "worker/judge/tolerance.hpp"

namespace kernelpro {

void combine_shapes(Timing& timing) {
  const auto mean_of = [&timing](auto value) { return geometric_mean(timing.shapes, value); };
  timing.speedup = mean_of([](const ShapeTiming& s) { return s.speedup; });
  timing.speedup_interval.low =
      mean_of([](const ShapeTiming& s) { return s.speedup_interval.low; });
  timing.speedup_interval.high =
      mean_of([](const ShapeTiming& s) { return s.speedup_interval.high; });
  timing.noise_floor = mean_of([](const ShapeTiming& s) { return 1 + s.noise_floor; }) - 1;
  timing.budget = mean_of([](const ShapeTiming& s) { return 1 + s.budget.total(); }) - 1;
  timing.at_least = std::any_of(timing.shapes.begin(), timing.shapes.end(),
                                [](const ShapeTiming& s) { return s.at_least; });
  const bool busy = std::any_of(timing.shapes.begin(), timing.shapes.end(),
                                [](const ShapeTiming& s) { return s.likely > 0; });
  timing.likely =
      !busy ? 0 : mean_of([](const ShapeTiming& s) { return s.likely > 0 ? s.likely : s.speedup; });
  const auto any = [&timing](auto so) {
    return std::any_of(timing.shapes.begin(), timing.shapes.end(), so);
  };
  timing.comparison = any([](const ShapeTiming& s) { return s.screened; })
                          ? Comparison::slower
                          : compare(timing.speedup_interval, timing.budget);
  // Nowhere slower beyond doubt is not slower on the whole.
  if (timing.comparison == Comparison::slower &&
      !any([](const ShapeTiming& s) { return s.comparison == Comparison::slower; })) {
    timing.comparison = Comparison::same;
  }
}

void pass(Verdict& verdict, bool timed, const std::string& against) {
  verdict.outcome = Outcome::passed;
  verdict.stage = Stage::done;
  verdict.suspect = !verdict.suspicions.empty();
  verdict.rules_run = {"build_option", "private_file", "sandbox",      "channel",
                       "poison",       "guard",        "input_write",  "late_work",
                       "ahead",        "precision",    "repeatability"};
  if (!timed) {
    verdict.summary = "correct; not timed";
    return;
  }
  verdict.rules_run.insert(verdict.rules_run.end(), {"clock", "bound", "budget"});
  const Timing& timing = verdict.timing;
  switch (timing.comparison) {
    case Comparison::faster:
      verdict.summary = fmt::format("correct, {}{:.2f} times as fast as {}",
                                    timing.at_least ? "at least " : "", timing.speedup, against);
      break;
    case Comparison::slower:
      verdict.summary = fmt::format("correct, slower than {} ({:.2f})", against, timing.speedup);
      break;
    default:
      verdict.summary =
          fmt::format("correct, no faster and no slower than {} beyond the doubt of {:.1f} %",
                      against, 100 * timing.budget);
  }
}

void fail(Verdict& verdict, Failure failure) {
  verdict.outcome = failure.outcome;
  verdict.rule = std::move(failure.rule);
  // It may quote the candidate (a path, a compiler's line): no line of a report is its to write.
  verdict.summary = printable(failure.summary);
  verdict.evidence = std::move(failure.evidence);
}

void keep_findings(Verdict& verdict, const Verdict& again) {
  verdict.precision = less_precise(verdict.precision, again.precision);
  for (const std::string& suspicion : again.suspicions) {
    if (std::find(verdict.suspicions.begin(), verdict.suspicions.end(), suspicion) ==
        verdict.suspicions.end()) {
      verdict.suspicions.push_back(suspicion);
    }
  }
}

std::vector<std::string> remarks_on(const ShapeTiming& timing, const std::string& rival) {
  constexpr double worth_a_remark = 0.005;
  std::vector<std::string> remarks;
  if (timing.at_least) {
    remarks.push_back(fmt::format(
        "the {} took {:.0f} % longer in pairs than at its best: the speed-up is against that",
        rival, 100 * (timing.incumbent_ns / timing.incumbent_alone_ns - 1)));
  }
  if (timing.budget.overlap > worth_a_remark) {
    remarks.push_back(fmt::format(
        "calls by themselves leave {:.1f} % of a call's time unconfirmed that rounds save: it "
        "counts as doubt",
        100 * timing.budget.overlap));
  }
  return remarks;
}

Failure build_failure(const BuildOutcome& build) {
  Failure failure;
  failure.outcome = build.rule.empty() ? Outcome::build_failed : Outcome::cheated;
  failure.rule = build.timed_out ? "timeout" : build.rule;
  const std::string first = build.diagnostics.substr(0, build.diagnostics.find('\n'));
  failure.summary = build.timed_out ? "the compiler did not finish in time" : first;
  failure.evidence = {build.diagnostics};
  return failure;
}

std::vector<double> at_shape(const ShapeBounds& bounds, const Axes& axes) {
  const auto found = bounds.find(axes);
  return found == bounds.end() ? std::vector<double>() : found->second;
}

std::vector<double> agreement_bounds(const ShapeBounds& bounds, const Axes& axes,
                                     std::size_t outputs) {
  std::vector<double> own = at_shape(bounds, axes);
  own.resize(outputs, 0);
  return widened(own, own);
}

std::vector<double> widened(std::vector<double> bounds, const std::vector<double>& more) {
  for (std::size_t i = 0; i < more.size(); ++i) {
    bounds[i] += more[i];
  }
  return bounds;
}

}  // namespace kernelpro
