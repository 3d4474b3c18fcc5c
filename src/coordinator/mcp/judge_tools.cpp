// The tools about candidates.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "coordinator/app/diagnose.hpp"
#include "coordinator/app/evaluate.hpp"
#include "coordinator/app/runs.hpp"
#include "coordinator/app/views.hpp"
#include "coordinator/mcp/arguments.hpp"
#include "coordinator/mcp/tools.hpp"
#include "coordinator/propose/diagnosis.hpp"

namespace kernelpro::mcp {

namespace {

using nlohmann::json;

// Beside the call, under the name that `evaluate` gives them.
json judged_view(const EvaluationResult& done, const std::filesystem::path& certificates) {
  json list = json::array();
  for (const Evaluated& evaluated : done.evaluations) {
    const Certificate& certificate = evaluated.certificate;
    json view = verdict_view(certificate);
    const std::filesystem::path file =
        certificates /
        (certificate.task.name + "-" + certificate.candidate.name + ".certificate.json");
    if (std::filesystem::exists(file)) {
      view["certificate"] = file.string();
    }
    list.push_back(std::move(view));
  }
  return list;
}

Result<EvaluationRequest> evaluation_request(const json& arguments, const ToolSetting& setting) {
  EvaluationRequest request;
  KP_LET(request.task, asked_task(arguments, setting));
  request.judging.backend = backend_of(arguments);
  request.timed = text_of(arguments, "mode") != "check";
  request.certificates = setting.scratch / "certificates";
  request.foreign = setting.remote;
  request.kept = setting.kept;
  std::size_t number = 0;
  for (const json& source : arguments["sources"]) {
    KP_LET(std::string file, source_file(source.get<std::string>(),
                                         fmt::format("source{}", ++number), arguments, setting));
    request.sources.push_back(std::move(file));
  }
  KP_LET(request.incumbent,
         source_file(text_of(arguments, "incumbent"), "incumbent", arguments, setting));
  return request;
}

// What the clock says of it; on a processor there is no profile.
Result<json> diagnose_by_time(const json& arguments, const std::string& source,
                              const ToolSetting& setting) {
  EvaluationRequest request;
  KP_LET(request.task, asked_task(arguments, setting));
  request.judging.backend = Backend::cpu;
  request.sources = {source};
  request.foreign = setting.remote;
  request.kept = setting.kept;
  KP_LET(const EvaluationResult done, evaluate(request, setting.watcher, setting.stop));
  if (done.evaluations.empty()) {
    return done.error.value_or(make_error(ErrorKind::internal, "nothing was judged"));
  }
  const Certificate& certificate = done.evaluations.front().certificate;
  json out = diagnosis_view(diagnose(certificate.verdict.timing), Backend::cpu);
  out["verdict"] = verdict_view(certificate);
  return out;
}

Result<json> diagnose_by_profile(const json& arguments, const std::string& source,
                                 const ToolSetting& setting) {
  DiagnoseRequest request;
  KP_LET(request.task, asked_task(arguments, setting));
  request.source = source;
  request.foreign = setting.remote;
  KP_LET(const DiagnosisOutcome done, diagnose(request, setting.watcher, setting.stop));
  const DiagnosisReport& report = done.diagnosed.report;
  return json{{"class", name_of(report.kind)},
              {"text", report.reason},
              {"findings", findings_view(report.findings)}};
}

Result<json> diagnose_node(const json& arguments, const ToolSetting& setting) {
  KP_LET(const NodeRequest request, node_of(arguments, setting));
  KP_LET(const ShownNode shown, show_node(request));
  const Backend backend = shown.chosen.report.run.settings.judging.backend;
  json out = diagnosis_view(shown.chosen.node.diagnosis, backend);
  if (shown.certificate) {
    out["verdict"] = verdict_view(*shown.certificate);
  }
  return out;
}

}  // namespace

Result<json> evaluate_tool(const json& arguments, const ToolSetting& setting) {
  KP_LET(const EvaluationRequest request, evaluation_request(arguments, setting));
  KP_LET(const EvaluationResult done, evaluate(request, setting.watcher, setting.stop));
  if (done.error && done.error->kind == ErrorKind::interrupted) {
    return *done.error;
  }
  json out = {{"verdicts", judged_view(done, request.certificates)}};
  if (done.error) {
    out["error"] = done.error->text();
  }
  return out;
}

Result<json> diagnose_tool(const json& arguments, const ToolSetting& setting) {
  if (arguments.contains("run")) {
    return diagnose_node(arguments, setting);
  }
  if (!arguments.contains("task") || !arguments.contains("source")) {
    return make_error(ErrorKind::bad_input, "give task and source, or run and node");
  }
  const Backend backend = backend_of(arguments);
  KP_LET(const std::string source,
         source_file(text_of(arguments, "source"), "source", arguments, setting));
  return traits_of(backend).gpu ? diagnose_by_profile(arguments, source, setting)
                                : diagnose_by_time(arguments, source, setting);
}

}  // namespace kernelpro::mcp
