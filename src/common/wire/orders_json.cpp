#include "common/wire/orders_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/wire/values.hpp"

namespace kernelpro {

KP_LAST(LintLevel, note);
KP_LAST(DiagnoseKind, profile);

namespace {

void describe_sandbox(Form& form, bool& sandbox) {
  std::string text = sandbox ? "landlock" : "none";
  form("sandbox", text);
  form.expect(text == "landlock" || text == "none", R"("landlock" or "none")");
  if (form.reading()) {
    sandbox = text == "landlock";
  }
}

void describe_timeout(Form& form, double& seconds) {
  std::int64_t milliseconds = std::llround(seconds * 1000);
  form.maybe("call_timeout_ms", milliseconds);
  if (form.reading()) {
    seconds = static_cast<double>(milliseconds) / 1000;
  }
}

void describe_judged(Form& form, std::optional<Candidate>& candidate, std::string& implementation) {
  form.maybe("candidate", candidate);
  form.maybe("implementation", implementation, !candidate.has_value());
  if (candidate.has_value() != implementation.empty()) {
    form.whole().complain(R"(expected one of "candidate" and "implementation")");
  }
}

void describe_text(Form& form, const char* key, std::string& text) {
  form(key, text);
  form.expect(!text.empty(), "a text that is not empty");
}

void describe_program(Form& form, DiagnoseOrder& order) {
  form("program", order.program);
  form.expect(!order.program.empty() && !order.program.front().empty(),
              "the program and its arguments");
  describe_text(form, "directory", order.directory);
  form.maybe("environment", order.environment);
}

// What is diagnosed: each kind has its own keys.
void describe_subject(Form& form, DiagnoseOrder& order) {
  switch (order.kind) {
    case DiagnoseKind::candidate:
      describe_judged(form, order.candidate, order.implementation);
      form.maybe("shape", order.shape);
      break;
    case DiagnoseKind::library:
      describe_text(form, "library", order.library);
      form.maybe("shape", order.shape);
      break;
    case DiagnoseKind::program:
      describe_program(form, order);
      break;
    case DiagnoseKind::nsys:
      describe_text(form, "nsys_report", order.nsys_report);
      break;
    case DiagnoseKind::profile:
      form("profile", order.profile);
      break;
  }
}

}  // namespace

void describe(Form& form, CeilingsOrder& order) {
  KP_FIELDS(form.maybe, order, backend, device, refresh);
}

void describe(Form& form, HeaderLibrary& library) {
  KP_FIELDS(form, library, name, commit, files);
  form.nonempty("left_out", library.left_out);
}

void describe(Form& form, OpenOrder& order) {
  form("task", order.task);
  describe_sandbox(form, order.judging.sandbox);
  KP_FIELDS(form.maybe, order.judging, backend, device, threads);
  describe_timeout(form, order.judging.call_timeout_seconds);
  KP_FIELDS(form.maybe, order.judging, trace, warm, timing_seconds);
  KP_FIELDS(form.maybe, order, timed, energy, build_only);
  form.nonempty("headers", order.headers);
}

void describe(Form& form, EvaluateOrder& order) {
  describe_judged(form, order.candidate, order.implementation);
  KP_FIELDS(form.maybe, order, incumbent, allow_precision, timed, brief, energy, diagnose,
            diagnose_above, master, repeat_checks);
}

KP_DESCRIBE(LintFinding, level, rule, text)
KP_DESCRIBE(LintFindings, findings)
KP_DESCRIBE(OpenedShape, shape, baseline_ns, calls, flushed, pairs, noise_floor)
KP_DESCRIBE(Opened, task_hash, shapes, findings, ceilings)

void describe(Form& form, Evaluated& evaluated) {
  KP_FIELDS(form, evaluated, certificate, implementation);
  form.maybe("diagnosis", evaluated.diagnosis);
  form.nonempty("not_diagnosed", evaluated.not_diagnosed);
}

KP_DESCRIBE(CompilerDescription, name, path, identity, target_flags, openmp_flags)
KP_DESCRIBE(Problem, what, remedy, fatal)
KP_DESCRIBE(MeterDescription, backend, device, meter, missing)

void describe(Form& form, WorkerDescription& description) {
  KP_FIELDS(form, description, version, machine, compilers, problems);
  form.maybe("meters", description.meters);
}

KP_DESCRIBE(BuildSummary, ok, binary_hash)
KP_DESCRIBE(BuildReply, built)
KP_DESCRIBE(BuildOrder, candidates)

void describe(Form& form, DiagnoseOrder& order) {
  form("kind", order.kind);
  describe_subject(form, order);
  KP_FIELDS(form.maybe, order, all_tools, rules, counters, timeout_ms, backend, device);
  form.nonempty("keep", order.keep);
}

void describe(Form& form, Diagnosed& diagnosed) {
  form("profile", diagnosed.profile);
  form("diagnosis", diagnosed.report);
  form("seconds", diagnosed.seconds);
}

KP_JSON_OF(DiagnoseOrder, diagnose_order_from_json)
KP_JSON_OF(Diagnosed, diagnosed_from_json)
KP_JSON_OF(CeilingsOrder, ceilings_order_from_json)
KP_JSON_OF(OpenOrder, open_order_from_json)
KP_JSON_OF(EvaluateOrder, evaluate_order_from_json)
KP_JSON_OF(Opened, opened_from_json)
KP_JSON_OF(Evaluated, evaluated_from_json)
KP_JSON_OF(WorkerDescription, description_from_json)

KP_JSON_OF(LintFindings, findings_from_json)
KP_JSON_OF(BuildOrder, build_order_from_json)
KP_JSON_OF(BuildReply, build_reply_from_json)

}  // namespace kernelpro
