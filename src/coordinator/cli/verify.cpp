#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "common/wire/json.hpp"
#include "common/wire/orders_json.hpp"
#include "coordinator/cli/commands.hpp"
#include "coordinator/cli/opening.hpp"
#include "coordinator/cli/output.hpp"
#include "coordinator/cli/progress.hpp"
#include "coordinator/report/verdict_text.hpp"

namespace kernelpro {

namespace {

Result<Certificate> load_certificate(const std::filesystem::path& path) {
  const Result<std::string> text = read_file(path);
  if (!text) {
    return make_error(ErrorKind::bad_input, text.error().message, text.error().context);
  }
  const Result<nlohmann::json> json = parse_json(*text);
  if (!json) {
    return make_error(ErrorKind::bad_input, json.error().text(), path.string());
  }
  Result<Certificate> certificate = certificate_from_json(*json);
  if (!certificate) {
    return make_error(ErrorKind::bad_input, certificate.error().text(), path.string());
  }
  return certificate;
}

bool is_baseline(const Task& task, const std::string& source) {
  return std::any_of(task.baselines.begin(), task.baselines.end(),
                     [&](const ImplementationSpec& baseline) {
                       const auto file = task.files.find(baseline.file);
                       return file != task.files.end() && file->second == source;
                     });
}

// The order that repeats a certificate: same source, same values, same shapes.
EvaluateOrder repetition(const Certificate& certificate) {
  EvaluateOrder order;
  const Candidate& candidate = certificate.candidate;
  if (is_implementation(certificate.task, candidate.name) && !candidate.libraries.empty()) {
    order.implementation = candidate.name;
  } else {
    order.candidate = candidate;
  }
  if (!is_baseline(certificate.task, certificate.incumbent.source)) {
    order.incumbent = certificate.incumbent;
  }
  order.master = certificate.master;
  const bool passed = certificate.verdict.outcome == Outcome::passed;
  if (passed) {
    order.repeat_checks = certificate.verdict.checks;
  }
  order.timed = !passed || certificate.verdict.timing.comparison != Comparison::not_timed;
  if (certificate.verdict.precision != "contract") {
    order.allow_precision = {certificate.verdict.precision};
  }
  return order;
}

// The same backend, caches and threads as the certificate's candidate had, unless the user says how
// many threads. Where it had every core of its machine, it gets every core of this one.
Options as_certified(Options options, const Certificate& certificate) {
  options.run_settings.backend = certificate.candidate.backend;
  const std::vector<ShapeTiming>& shapes = certificate.verdict.timing.shapes;
  options.warm = !shapes.empty() && shapes.front().warm;
  if (options.threads == 0 && certificate.threads != certificate.machine.cores) {
    options.threads = certificate.threads;
  }
  return options;
}

nlohmann::json differences_json(const std::vector<Difference>& differences) {
  nlohmann::json list = nlohmann::json::array();
  for (const Difference& difference : differences) {
    list.push_back({{"what", difference.what},
                    {"before", difference.before},
                    {"now", difference.now},
                    {"matters", difference.matters}});
  }
  return list;
}

void print_differences(const std::vector<Difference>& differences) {
  for (const Difference& difference : differences) {
    fmt::print("  {}{}: {} → {}\n", difference.matters ? "! " : "", difference.what,
               difference.before, difference.now);
  }
}

// What a repetition came to.
struct Repetition {
  std::vector<Difference> differences;
  SpeedClaim speed = SpeedClaim::not_timed;
  bool holds = true;       // no difference matters
  bool undecided = false;  // only the comparison does, and it was measured too coarsely to tell
};

Repetition compare(const Certificate& before, const Certificate& now) {
  Repetition out;
  out.differences = compare_certificates(before, now);
  out.speed = compare_speed(before.verdict.timing, now.verdict.timing);
  bool more_than_speed = false;
  for (const Difference& difference : out.differences) {
    out.holds = out.holds && !difference.matters;
    more_than_speed = more_than_speed || (difference.matters && difference.what != "comparison");
  }
  out.undecided = !out.holds && !more_than_speed && out.speed == SpeedClaim::cannot_tell;
  return out;
}

// What is said of the certificate as a whole, in one breath.
std::string conclusion(const Repetition& repetition) {
  if (repetition.undecided) {
    return "cannot tell: its speed-up was measured too coarsely to be checked";
  }
  if (!repetition.holds) {
    return "does not hold";
  }
  return repetition.speed == SpeedClaim::cannot_tell
             ? "its verdict holds; its speed-up was measured too coarsely to be checked"
             : "holds";
}

void print_repetition(const Certificate& before, const Certificate& now,
                      const Repetition& repetition) {
  fmt::print("\ncertificate of {}: {}\n", before.date, conclusion(repetition));
  const bool coarse = repetition.speed == SpeedClaim::cannot_tell;
  if (coarse &&
      !overlap(before.verdict.timing.speedup_interval, now.verdict.timing.speedup_interval)) {
    fmt::print(
        "  the baseline was disturbed this time, so that only the least is known. Verify on a "
        "quieter machine\n");
  } else if (coarse) {
    fmt::print(
        "  the 95 % interval was {:.0f} % wide then and is {:.0f} % now; up to 10 % would tell. "
        "Verify on a\n  quieter machine, or with a longer --timing\n",
        100 * interval_width(before.verdict.timing), 100 * interval_width(now.verdict.timing));
  }
  print_differences(repetition.differences);
  if (repetition.differences.empty()) {
    fmt::print("  nothing{} differs\n", coarse ? " else" : "");
  }
}

int report_repetition(const Options& options, const Certificate& before, const Evaluated& now) {
  const Repetition repetition = compare(before, now.certificate);
  if (options.json) {
    print_json({{"holds", repetition.holds},
                {"speed", std::string(name_of(repetition.speed))},
                {"differences", differences_json(repetition.differences)},
                {"evaluation", to_json(now)}});
  } else {
    fmt::print("{}", evaluation_text(now));
    print_repetition(before, now.certificate, repetition);
  }
  if (now.certificate.verdict.outcome == Outcome::not_judged || repetition.undecided) {
    return exit_environment;
  }
  return repetition.holds ? exit_done : exit_not_passed;
}

}  // namespace

int verify(const Options& options, std::stop_token stop) {
  const Result<Certificate> before = load_certificate(options.certificate);
  if (!before) {
    return report_error(options, before.error());
  }
  Result<WorkerClient> worker = WorkerClient::start();
  if (!worker) {
    return report_error(options, worker.error());
  }
  ProgressLine progress(!options.quiet);
  progress.show(before->task.name + ": opening");
  const Result<Opened> opened =
      open_task(*worker, as_certified(options, *before), before->task, stop);
  if (!opened) {
    progress.clear();
    return report_error(options, opened.error());
  }
  worker->on_event([&](const WorkerEvent& event) {
    progress.show(before->task.name + " " + before->candidate.name + ": " + event.text);
  });
  const Result<Evaluated> now = worker->evaluate(repetition(*before), stop);
  progress.clear();
  return now ? report_repetition(options, *before, *now) : report_error(options, now.error());
}

}  // namespace kernelpro
