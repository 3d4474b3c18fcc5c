#include "common/wire/orders_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/wire/finding_json.hpp"
#include "common/wire/json.hpp"
#include "common/wire/reader.hpp"
#include "common/wire/values.hpp"
#include "common/wire/writer.hpp"

namespace kernelpro {

namespace wire {

namespace {

nlohmann::json write_finding(const LintFinding& finding) {
  return {{"level", name_of(finding.level)},
          {"rule", write_text(finding.rule)},
          {"text", write_text(finding.text)}};
}

LintFinding read_lint_finding(const Place& place) {
  Fields fields(place);
  LintFinding finding;
  finding.level = fields.at("level").name(parse_lint_level, "error, warning, note");
  finding.rule = fields.at("rule").text();
  finding.text = fields.at("text").text();
  fields.end();
  return finding;
}

std::vector<LintFinding> read_lint_findings(const Place& place) {
  Fields fields(place);
  std::vector<LintFinding> findings = fields.at("findings").list(read_lint_finding);
  fields.end();
  return findings;
}

OpenOrder read_open_order(const Place& place) {
  Fields fields(place);
  OpenOrder order;
  order.task = read_task(fields.at("task"));
  const std::string sandbox = fields.at("sandbox").text();
  if (sandbox != "landlock" && sandbox != "none") {
    fields.at("sandbox").complain_expected(R"("landlock" or "none")");
  }
  order.judging.sandbox = sandbox == "landlock";
  if (const auto backend = fields.maybe("backend")) {
    order.judging.backend = backend->name(parse_backend, backend_list());
  }
  if (const auto device = fields.maybe("device")) {
    order.judging.device = device->small_integer();
  }
  if (const auto threads = fields.maybe("threads")) {
    order.judging.threads = threads->small_integer();
  }
  if (const auto timeout = fields.maybe("call_timeout_ms")) {
    order.judging.call_timeout_seconds = static_cast<double>(timeout->integer()) / 1000;
  }
  if (const auto trace = fields.maybe("trace")) {
    order.judging.trace = trace->truth();
  }
  if (const auto warm = fields.maybe("warm")) {
    order.judging.warm = warm->truth();
  }
  if (const auto seconds = fields.maybe("timing_seconds")) {
    order.judging.timing_seconds = seconds->number();
  }
  if (const auto timed = fields.maybe("timed")) {
    order.timed = timed->truth();
  }
  if (const auto energy = fields.maybe("energy")) {
    order.energy = energy->truth();
  }
  fields.end();
  return order;
}

EvaluateOrder read_evaluate_order(const Place& place) {
  Fields fields(place);
  EvaluateOrder order;
  if (const auto candidate = fields.maybe("candidate")) {
    order.candidate = read_candidate(*candidate);
  }
  if (const auto implementation = fields.maybe("implementation")) {
    order.implementation = implementation->text();
  }
  if (order.candidate.has_value() != order.implementation.empty()) {
    place.complain(R"(expected one of "candidate" and "implementation")");
  }
  if (const auto incumbent = fields.maybe("incumbent")) {
    order.incumbent = read_candidate(*incumbent);
  }
  if (const auto precisions = fields.maybe("allow_precision")) {
    order.allow_precision = precisions->texts();
  }
  if (const auto timed = fields.maybe("timed")) {
    order.timed = timed->truth();
  }
  if (const auto energy = fields.maybe("energy")) {
    order.energy = energy->truth();
  }
  if (const auto diagnose = fields.maybe("diagnose")) {
    order.diagnose = diagnose->truth();
  }
  if (const auto master = fields.maybe("master")) {
    order.master = master->key();
  }
  if (const auto checks = fields.maybe("repeat_checks")) {
    order.repeat_checks = checks->list(read_check);
  }
  fields.end();
  return order;
}

nlohmann::json write_opened_shape(const OpenedShape& shape) {
  return {{"shape", write_axes(shape.shape)},
          {"baseline_ns", write_number(shape.baseline_ns)},
          {"calls", shape.calls},
          {"flushed", shape.flushed},
          {"pairs", shape.pairs},
          {"noise_floor", write_number(shape.noise_floor)}};
}

OpenedShape read_opened_shape(const Place& place) {
  Fields fields(place);
  OpenedShape shape;
  shape.shape = fields.at("shape").axes();
  shape.baseline_ns = fields.at("baseline_ns").number();
  shape.calls = fields.at("calls").small_integer();
  shape.flushed = fields.at("flushed").truth();
  shape.pairs = fields.at("pairs").small_integer();
  shape.noise_floor = fields.at("noise_floor").number();
  fields.end();
  return shape;
}

Opened read_opened(const Place& place) {
  Fields fields(place);
  Opened opened;
  opened.task_hash = fields.at("task_hash").text();
  opened.shapes = fields.at("shapes").list(read_opened_shape);
  opened.findings = fields.at("findings").list(read_lint_finding);
  opened.ceilings = read_ceilings(fields.at("ceilings"));
  fields.end();
  return opened;
}

Evaluated read_evaluated(const Place& place) {
  Fields fields(place);
  Evaluated evaluated;
  evaluated.certificate = read_certificate(fields.at("certificate"));
  evaluated.implementation = fields.at("implementation").text();
  if (const auto diagnosis = fields.maybe("diagnosis")) {
    evaluated.diagnosis = read_diagnosis(*diagnosis);
  }
  if (const auto why = fields.maybe("not_diagnosed")) {
    evaluated.not_diagnosed = why->text();
  }
  fields.end();
  return evaluated;
}

nlohmann::json write_compiler(const CompilerDescription& compiler) {
  return {{"name", compiler.name},
          {"path", compiler.path},
          {"identity", write_text(compiler.identity)},
          {"target_flags", write_texts(compiler.target_flags)},
          {"openmp_flags", write_texts(compiler.openmp_flags)}};
}

CompilerDescription read_compiler(const Place& place) {
  Fields fields(place);
  CompilerDescription compiler;
  compiler.name = fields.at("name").text();
  compiler.path = fields.at("path").text();
  compiler.identity = fields.at("identity").text();
  compiler.target_flags = fields.at("target_flags").texts();
  compiler.openmp_flags = fields.at("openmp_flags").texts();
  fields.end();
  return compiler;
}

nlohmann::json write_problem(const Problem& problem) {
  return {{"what", write_text(problem.what)},
          {"remedy", write_text(problem.remedy)},
          {"fatal", problem.fatal}};
}

Problem read_problem(const Place& place) {
  Fields fields(place);
  Problem problem;
  problem.what = fields.at("what").text();
  problem.remedy = fields.at("remedy").text();
  problem.fatal = fields.at("fatal").truth();
  fields.end();
  return problem;
}

nlohmann::json write_meter(const MeterDescription& meter) {
  return {{"backend", name_of(meter.backend)},
          {"device", meter.device},
          {"meter", write_text(meter.meter)},
          {"missing", write_text(meter.missing)}};
}

MeterDescription read_meter(const Place& place) {
  Fields fields(place);
  MeterDescription meter;
  meter.backend = fields.at("backend").name(parse_backend, backend_list());
  meter.device = fields.at("device").small_integer();
  meter.meter = fields.at("meter").text();
  meter.missing = fields.at("missing").text();
  fields.end();
  return meter;
}

WorkerDescription read_description(const Place& place) {
  Fields fields(place);
  WorkerDescription description;
  description.version = fields.at("version").text();
  description.machine = read_machine(fields.at("machine"));
  description.compilers = fields.at("compilers").list(read_compiler);
  description.problems = fields.at("problems").list(read_problem);
  if (const auto meters = fields.maybe("meters")) {
    description.meters = meters->list(read_meter);
  }
  fields.end();
  return description;
}

BuildSummary read_build_summary(const Place& place) {
  Fields fields(place);
  BuildSummary summary;
  summary.ok = fields.at("ok").truth();
  summary.binary_hash = fields.at("binary_hash").text();
  fields.end();
  return summary;
}

std::vector<BuildSummary> read_build_reply(const Place& place) {
  Fields fields(place);
  std::vector<BuildSummary> built = fields.at("built").list(read_build_summary);
  fields.end();
  return built;
}

std::vector<Candidate> read_build_order(const Place& place) {
  Fields fields(place);
  std::vector<Candidate> candidates = fields.at("candidates").list(read_candidate);
  fields.end();
  return candidates;
}

}  // namespace

}  // namespace wire

nlohmann::json to_json(const OpenOrder& order) {
  return {{"task", to_json(order.task)},
          {"backend", name_of(order.judging.backend)},
          {"device", order.judging.device},
          {"sandbox", order.judging.sandbox ? "landlock" : "none"},
          {"threads", order.judging.threads},
          {"call_timeout_ms", std::llround(order.judging.call_timeout_seconds * 1000)},
          {"timing_seconds", wire::write_number(order.judging.timing_seconds)},
          {"trace", order.judging.trace},
          {"warm", order.judging.warm},
          {"timed", order.timed},
          {"energy", order.energy}};
}

nlohmann::json to_json(const EvaluateOrder& order) {
  nlohmann::json json = {
      {"allow_precision", wire::write_texts(order.allow_precision)},
      {"timed", order.timed},
      {"energy", order.energy},
      {"diagnose", order.diagnose},
      {"repeat_checks", wire::write_list(order.repeat_checks, wire::write_check)}};
  if (order.candidate) {
    json["candidate"] = to_json(*order.candidate);
  } else {
    json["implementation"] = order.implementation;
  }
  if (order.incumbent) {
    json["incumbent"] = to_json(*order.incumbent);
  }
  if (order.master) {
    json["master"] = wire::write_key(*order.master);
  }
  return json;
}

nlohmann::json to_json(const Opened& opened) {
  return {{"task_hash", opened.task_hash},
          {"shapes", wire::write_list(opened.shapes, wire::write_opened_shape)},
          {"findings", wire::write_list(opened.findings, wire::write_finding)},
          {"ceilings", to_json(opened.ceilings)}};
}

nlohmann::json to_json(const Evaluated& evaluated) {
  nlohmann::json json = {{"certificate", to_json(evaluated.certificate)},
                         {"implementation", wire::write_text(evaluated.implementation)}};
  if (evaluated.diagnosis) {
    json["diagnosis"] = to_json(*evaluated.diagnosis);
  }
  if (!evaluated.not_diagnosed.empty()) {
    json["not_diagnosed"] = wire::write_text(evaluated.not_diagnosed);
  }
  return json;
}

nlohmann::json to_json(const WorkerDescription& description) {
  return {{"version", description.version},
          {"machine", to_json(description.machine)},
          {"compilers", wire::write_list(description.compilers, wire::write_compiler)},
          {"problems", wire::write_list(description.problems, wire::write_problem)},
          {"meters", wire::write_list(description.meters, wire::write_meter)}};
}

nlohmann::json to_json(const std::vector<LintFinding>& findings) {
  return {{"findings", wire::write_list(findings, wire::write_finding)}};
}

nlohmann::json build_reply(const std::vector<BuildSummary>& built) {
  return {{"built", wire::write_list(built, [](const BuildSummary& one) {
             return nlohmann::json{{"ok", one.ok}, {"binary_hash", one.binary_hash}};
           })}};
}

nlohmann::json build_order(const std::vector<Candidate>& candidates) {
  return {{"candidates", wire::write_list(candidates, [](const Candidate& candidate) {
             return to_json(candidate);
           })}};
}

Result<OpenOrder> open_order_from_json(const nlohmann::json& json) {
  return wire::read_document(json, wire::read_open_order);
}

Result<EvaluateOrder> evaluate_order_from_json(const nlohmann::json& json) {
  return wire::read_document(json, wire::read_evaluate_order);
}

Result<Opened> opened_from_json(const nlohmann::json& json) {
  return wire::read_document(json, wire::read_opened);
}

Result<Evaluated> evaluated_from_json(const nlohmann::json& json) {
  return wire::read_document(json, wire::read_evaluated);
}

Result<WorkerDescription> description_from_json(const nlohmann::json& json) {
  return wire::read_document(json, wire::read_description);
}

Result<std::vector<LintFinding>> findings_from_json(const nlohmann::json& json) {
  return wire::read_document(json, wire::read_lint_findings);
}

Result<std::vector<BuildSummary>> build_reply_from_json(const nlohmann::json& json) {
  return wire::read_document(json, wire::read_build_reply);
}

Result<std::vector<Candidate>> build_order_from_json(const nlohmann::json& json) {
  return wire::read_document(json, wire::read_build_order);
}

}  // namespace kernelpro
