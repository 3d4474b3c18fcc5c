#include "coordinator/app/verify.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "common/wire/json.hpp"
#include "common/wire/orders_json.hpp"
#include "coordinator/app/opening.hpp"
#include "coordinator/dispatch/worker_client.hpp"

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

// Where it had every core of its machine, it gets every core of this one.
JudgingSettings as_certified(JudgingSettings judging, const Certificate& certificate) {
  judging.backend = certificate.candidate.backend;
  const std::vector<ShapeTiming>& shapes = certificate.verdict.timing.shapes;
  judging.warm = !shapes.empty() && shapes.front().warm;
  if (judging.threads == 0 && certificate.threads != certificate.machine.cores) {
    judging.threads = certificate.threads;
  }
  return judging;
}

Verification compare(Certificate before, Evaluated now) {
  Verification out;
  out.differences = compare_certificates(before, now.certificate);
  out.speed = compare_speed(before.verdict.timing, now.certificate.verdict.timing);
  bool more_than_speed = false;
  for (const Difference& difference : out.differences) {
    out.holds = out.holds && !difference.matters;
    more_than_speed = more_than_speed || (difference.matters && difference.what != "comparison");
  }
  out.undecided = !out.holds && !more_than_speed && out.speed == SpeedClaim::cannot_tell;
  out.before = std::move(before);
  out.now = std::move(now);
  return out;
}

}  // namespace

Result<Verification> verify(const VerifyRequest& request, const Watcher& watcher,
                            std::stop_token stop) {
  KP_LET(Certificate before, load_certificate(request.certificate));
  KP_LET(WorkerClient worker, WorkerClient::start());
  tell(watcher, Activity{before.task.name + ": opening"});
  OpenOrder order;
  order.task = before.task;
  order.judging = as_certified(request.judging, before);
  KP_TRY(open_task(worker, order, stop));
  const std::string label = before.task.name + " " + before.candidate.name + ": ";
  worker.on_event([&](const WorkerEvent& event) { tell(watcher, Activity{label + event.text}); });
  KP_LET(Evaluated now, worker.evaluate(repetition(before), stop));
  return compare(std::move(before), std::move(now));
}

nlohmann::json to_json(const Verification& verification) {
  nlohmann::json differences = nlohmann::json::array();
  for (const Difference& difference : verification.differences) {
    differences.push_back({{"what", difference.what},
                           {"before", difference.before},
                           {"now", difference.now},
                           {"matters", difference.matters}});
  }
  return {{"holds", verification.holds},
          {"speed", std::string(name_of(verification.speed))},
          {"differences", std::move(differences)},
          {"evaluation", to_json(verification.now)}};
}

}  // namespace kernelpro
