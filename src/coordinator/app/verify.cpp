#include "coordinator/app/verify.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "common/wire/json.hpp"
#include "common/wire/orders_json.hpp"
#include "coordinator/app/candidate_file.hpp"
#include "coordinator/app/header_folders.hpp"
#include "coordinator/app/opening.hpp"
#include "coordinator/dispatch/worker_client.hpp"
#include "coordinator/propose/source_header.hpp"

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

// What is judged, and beside whom, in every order that asks about a certificate.
EvaluateOrder certified(const Certificate& certificate) {
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
  if (certificate.verdict.precision != "contract") {
    order.allow_precision = {certificate.verdict.precision};
  }
  return order;
}

bool claims_to_pass(const Certificate& certificate) {
  return certificate.verdict.outcome == Outcome::passed;
}

// Whether it says that its source failed on values that this generator does not draw: on others it
// may pass, or fail otherwise.
bool failed_on_other_values(const Certificate& certificate) {
  return certificate.version < Certificate().version && !claims_to_pass(certificate) &&
         certificate.verdict.stage != Stage::build;
}

// The order that repeats a certificate: same source, same values, same shapes. Whoever wrote it
// knew them, so what passed is timed on others.
EvaluateOrder repetition(const Certificate& certificate) {
  EvaluateOrder order = certified(certificate);
  order.master = certificate.master;
  if (claims_to_pass(certificate)) {
    order.repeat_checks = certificate.verdict.checks;
  }
  order.timed = !claims_to_pass(certificate);
  return order;
}

// The order that judges the certificate's source as if nobody had before, on values and shapes that
// nobody knows.
EvaluateOrder trial_anew(const Certificate& certificate) {
  EvaluateOrder order = certified(certificate);
  order.timed = certificate.verdict.timing.comparison != Comparison::not_timed;
  return order;
}

// The order that judges a source beside the certificate's, built as that one was unless its first
// lines say otherwise.
Result<EvaluateOrder> succession(const Certificate& certificate, const std::string& source) {
  const Candidate& before = certificate.candidate;
  if (!claims_to_pass(certificate) || before.source.empty()) {
    return make_error(ErrorKind::bad_input,
                      "the certificate's own source did not pass: there is nothing to hold " +
                          source + " against");
  }
  EvaluateOrder order;
  KP_LET(order.candidate, load_candidate(source, certificate.task, before.backend));
  const SourceHeader header = read_source_header(order.candidate->source);
  if (header.compiler.empty() && header.options.empty()) {
    order.candidate->compiler = before.compiler;
    order.candidate->options = before.options;
  }
  order.incumbent = before;
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

// A certificate has the hashes of the headers and not the headers.
Status check_included(const Certificate& certificate, const JudgingSettings& judging) {
  for (const BuildRecord* build : {&certificate.build, &certificate.incumbent_build}) {
    for (const IncludedLibrary& library : build->includes) {
      if (std::ranges::find(judging.includes, library.name, &HeaderFolder::name) ==
          judging.includes.end()) {
        return make_error(ErrorKind::bad_input,
                          "its build includes the library " + text_of(library) +
                              ": name the folder with --include " + library.name + "=DIR");
      }
    }
  }
  return {};
}

// Of two sources that were timed side by side. Only who is called slower, beyond all doubt, has
// certainly lost something.
std::optional<KeptSpeed> kept_beside(const Timing& now) {
  if (now.comparison == Comparison::not_timed) {
    return std::nullopt;
  }
  const bool doubtful = now.at_least || now.comparison == Comparison::same;
  return KeptSpeed{now.speedup, now.speedup_interval, 0,
                   doubtful && now.comparison != Comparison::slower};
}

// Of one source, by its speed-up then and now.
std::optional<KeptSpeed> kept_since(const Timing& before, const Timing& now) {
  if (before.comparison == Comparison::not_timed || now.comparison == Comparison::not_timed) {
    return std::nullopt;
  }
  return KeptSpeed{now.speedup / before.speedup,
                   {now.speedup_interval.low / before.speedup_interval.high,
                    now.speedup_interval.high / before.speedup_interval.low},
                   0,
                   now.at_least};
}

// How much of its speed was kept decides now, and not whether the claim repeats.
void ask_for(double least, std::optional<KeptSpeed> kept, bool right, Verification& out) {
  if (kept) {
    kept->asked = least;
    out.undecided = right && kept->too_little() && kept->at_least;
  }
  out.holds = right && kept && !kept->too_little();
  out.kept = kept;
}

Verification succeed(Certificate before, Evaluated now, double fail_below) {
  const Verdict& verdict = now.certificate.verdict;
  Verification out;
  ask_for(fail_below, kept_beside(verdict.timing), verdict.outcome == Outcome::passed, out);
  out.before = std::move(before);
  out.now = std::move(now);
  return out;
}

// What of the headers that the certificate names is otherwise now. Where nothing was built, that is
// asked of the libraries as they were given.
void compare_headers(const Certificate& before, const Certificate& now, const OpenOrder& order,
                     std::vector<Difference>& differences) {
  std::vector<IncludedLibrary> given;
  std::string certified;
  for (const IncludedLibrary& library : before.build.includes) {
    const auto found = std::ranges::find(order.headers, library.name, &HeaderLibrary::name);
    given.push_back(same_part(*found, library));
    certified += (certified.empty() ? "" : ", ") + text_of(library);
  }
  const bool built = !now.build.binary_hash.empty();
  const std::string text = difference_of(before.build.includes, built ? now.build.includes : given);
  if (!text.empty()) {
    differences.push_back({"headers", certified, text, true});
  }
}

Verification compare(Certificate before, Evaluated now, const OpenOrder& order, double fail_below) {
  Verification out;
  out.differences = compare_certificates(before, now.certificate);
  compare_headers(before, now.certificate, order, out.differences);
  out.speed = compare_speed(before.verdict.timing, now.certificate.verdict.timing);
  bool more_than_speed = false;
  for (const Difference& difference : out.differences) {
    out.holds = out.holds && !difference.matters;
    const bool of_speed = difference.what == "comparison" || difference.what == "speed-up";
    const bool of_values = difference.what == "verdict" && failed_on_other_values(before);
    out.other_values = out.other_values || (difference.matters && of_values);
    more_than_speed = more_than_speed || (difference.matters && !of_speed && !of_values);
  }
  out.other_values = out.other_values && !more_than_speed;
  out.undecided =
      !out.holds && !more_than_speed && (out.other_values || out.speed == SpeedClaim::cannot_tell);
  if (fail_below > 0) {
    ask_for(fail_below, kept_since(before.verdict.timing, now.certificate.verdict.timing),
            !more_than_speed, out);
  }
  out.before = std::move(before);
  out.now = std::move(now);
  return out;
}

}  // namespace

Result<Verification> verify(const VerifyRequest& request, const Watcher& watcher,
                            std::stop_token stop) {
  KP_LET(Certificate before, load_certificate(request.certificate));
  const bool again = request.source.empty();
  KP_LET(const EvaluateOrder judged,
         again ? repetition(before) : succession(before, request.source));
  KP_TRY(check_included(before, request.judging));
  KP_LET(const OpenOrder order,
         with_headers({.task = before.task, .judging = as_certified(request.judging, before)}));
  KP_LET(WorkerClient worker, WorkerClient::start());
  tell(watcher, Activity{before.task.name + ": opening"});
  KP_TRY(open_task(worker, order, stop));
  const std::string name = judged.candidate ? judged.candidate->name : judged.implementation;
  const std::string label = before.task.name + " " + name + ": ";
  worker.on_event([&](const WorkerEvent& event) { tell(watcher, Activity{label + event.text}); });
  KP_LET(Evaluated now, worker.evaluate(judged, stop));
  if (again && claims_to_pass(before) && claims_to_pass(now.certificate)) {
    KP_LET(now, worker.evaluate(trial_anew(before), stop));
  }
  return again ? compare(std::move(before), std::move(now), order, request.fail_below)
               : succeed(std::move(before), std::move(now), request.fail_below);
}

nlohmann::json to_json(const Verification& verification) {
  nlohmann::json differences = nlohmann::json::array();
  for (const Difference& difference : verification.differences) {
    differences.push_back({{"what", difference.what},
                           {"before", difference.before},
                           {"now", difference.now},
                           {"matters", difference.matters}});
  }
  nlohmann::json out = {{"holds", verification.holds},
                        {"speed", std::string(name_of(verification.speed))},
                        {"differences", std::move(differences)},
                        {"evaluation", to_json(verification.now)}};
  if (const std::optional<KeptSpeed>& kept = verification.kept) {
    out["kept"] = {{"ratio", kept->ratio},
                   {"interval", {kept->interval.low, kept->interval.high}},
                   {"asked", kept->asked},
                   {"at_least", kept->at_least}};
  }
  return out;
}

}  // namespace kernelpro
