// The commands about candidates: `evaluate`, `verify` and `diagnose`.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/wire/finding_json.hpp"
#include "common/wire/orders_json.hpp"
#include "coordinator/app/pages.hpp"
#include "coordinator/cli/commands.hpp"
#include "coordinator/cli/run_output.hpp"
#include "coordinator/cli/watched.hpp"
#include "coordinator/report/diagnosis_md.hpp"
#include "coordinator/report/diagnosis_text.hpp"
#include "coordinator/report/verdict_text.hpp"

namespace kernelpro {

namespace {

void print_evaluation(const Options& options, const EvaluationResult& done) {
  if (options.json) {
    print_json(to_json(done));
  } else if (options.evaluate.sources.size() == 1 && !done.evaluations.empty()) {
    fmt::print("{}", evaluation_text(done.evaluations.front()));
  } else if (!done.evaluations.empty()) {
    fmt::print("{}", verdict_table(done.evaluations));
  }
  if (done.error) {
    print_error(*done.error);
  }
}

int judged_exit_code(const EvaluationResult& done, bool timed) {
  if (done.error) {
    return exit_code_of(*done.error);
  }
  const std::vector<Evaluated>& evaluations = done.evaluations;
  const auto ended = [](Outcome outcome) {
    return [outcome](const Evaluated& evaluated) {
      return evaluated.certificate.verdict.outcome == outcome;
    };
  };
  if (std::any_of(evaluations.begin(), evaluations.end(), ended(Outcome::not_judged))) {
    return exit_environment;
  }
  const bool all_passed =
      std::all_of(evaluations.begin(), evaluations.end(), ended(Outcome::passed));
  const bool faster =
      evaluations.back().certificate.verdict.timing.comparison == Comparison::faster;
  return all_passed && (faster || !timed) ? exit_done : exit_not_passed;
}

// What is said of the certificate as a whole, in one breath.
std::string conclusion(const Verification& verification) {
  if (verification.other_values) {
    return "cannot tell: an older version drew the values on which its source failed";
  }
  if (verification.undecided) {
    return "cannot tell: its speed-up was measured too coarsely to be checked";
  }
  if (!verification.holds) {
    return "does not hold";
  }
  return verification.speed == SpeedClaim::cannot_tell
             ? "its verdict holds; its speed-up was measured too coarsely to be checked"
             : "holds";
}

// How much of the certificate's speed is left, where that was asked.
void print_kept(const Verification& done) {
  if (!done.kept) {
    return;
  }
  const KeptSpeed& kept = *done.kept;
  fmt::print("\n{:.3f} of the certificate's speed{}, 95 % interval [{:.3f}, {:.3f}]", kept.ratio,
             kept.at_least ? " at least" : "", kept.interval.low, kept.interval.high);
  if (kept.asked > 0) {
    const char* const failing =
        done.undecided ? "cannot tell on a machine as busy as this" : "does not hold";
    fmt::print("; {} was asked for: {}", kept.asked, kept.too_little() ? failing : "holds");
  }
  fmt::print("\n");
}

void print_verification(const Verification& done, bool of_another_source) {
  fmt::print("{}", evaluation_text(done.now));
  print_kept(done);
  if (of_another_source) {
    return;
  }
  fmt::print("\ncertificate of {}: {}\n", done.before.date, conclusion(done));
  const Timing& before = done.before.verdict.timing;
  const Timing& now = done.now.certificate.verdict.timing;
  const bool coarse = done.speed == SpeedClaim::cannot_tell;
  if (coarse && !overlap(before.speedup_interval, now.speedup_interval)) {
    fmt::print(
        "  the baseline was disturbed this time, so that only the least is known. Verify on a "
        "quieter machine\n");
  } else if (coarse) {
    fmt::print(
        "  the 95 % interval was {:.0f} % wide then and is {:.0f} % now; up to 10 % would tell. "
        "Verify on a\n  quieter machine, or with a longer --timing\n",
        100 * interval_width(before), 100 * interval_width(now));
  }
  for (const Difference& difference : done.differences) {
    fmt::print("  {}{}: {} → {}\n", difference.matters ? "! " : "", difference.what,
               difference.before, difference.now);
  }
  if (done.differences.empty()) {
    fmt::print("  nothing{} differs\n", coarse ? " else" : "");
  }
}

}  // namespace

int evaluate_command(const Options& options, std::stop_token stop) {
  const Result<EvaluationResult> done = watched(
      options, [&](const Watcher& watcher) { return evaluate(options.evaluate, watcher, stop); });
  if (!done) {
    return report_error(options, done.error());
  }
  if (done->waiting) {
    print_waiting(options.evaluate.workers, options.evaluate.judging, "this command again");
    return exit_waiting;
  }
  print_evaluation(options, *done);
  return judged_exit_code(*done, options.evaluate.timed);
}

int verify_command(const Options& options, std::stop_token stop) {
  const Result<Verification> done = watched(
      options, [&](const Watcher& watcher) { return verify(options.verify, watcher, stop); });
  const auto print = [&](const Verification& verification) {
    print_verification(verification, !options.verify.source.empty());
  };
  return print_result(options, done, print, [](const Verification& verification) {
    if (verification.now.certificate.verdict.outcome == Outcome::not_judged ||
        verification.undecided) {
      return exit_environment;
    }
    return verification.holds ? exit_done : exit_not_passed;
  });
}

int diagnose_command(const Options& options, std::stop_token stop) {
  const Result<DiagnosisOutcome> done = watched(
      options, [&](const Watcher& watcher) { return diagnose(options.diagnose, watcher, stop); });
  if (!done) {
    return report_error(options, done.error());
  }
  if (options.json) {
    print_json(to_json(done->diagnosed));
  } else {
    fmt::print("{}", options.markdown ? diagnosis_markdown(done->diagnosed, options.raw)
                                      : diagnosis_text(done->diagnosed, options.raw));
  }
  if (done->not_kept) {
    print_error(*done->not_kept);
    return exit_code_of(*done->not_kept);
  }
  return options.html.empty()
             ? exit_done
             : page_exit_code(options, write_diagnosis_page(done->diagnosed, options.html));
}

}  // namespace kernelpro
