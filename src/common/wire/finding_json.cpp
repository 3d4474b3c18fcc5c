#include "common/wire/finding_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/wire/profile_json.hpp"
#include "common/wire/reader.hpp"
#include "common/wire/values.hpp"
#include "common/wire/writer.hpp"

namespace kernelpro {

namespace wire {

namespace {

using nlohmann::json;

constexpr std::int64_t diagnosis_version = 1;
constexpr std::int64_t tool_version = 1;
constexpr std::string_view known_classes =
    "unknown, dram, l2, l1, tensor, alu, latency, tail, launch";
constexpr std::string_view known_severities = "low, medium, high";

json write_roof(const RoofUse& roof) {
  return {{"roof", write_text(roof.roof)},
          {"share", write_number(roof.share)},
          {"text", write_text(roof.text)}};
}

RoofUse read_roof(const Place& place) {
  Fields fields(place);
  RoofUse roof;
  roof.roof = fields.at("roof").text();
  roof.share = fields.at("share").number();
  roof.text = fields.at("text").text();
  fields.end();
  return roof;
}

json write_skipped(const SkippedTool& skipped) {
  return {{"tool", write_text(skipped.tool)}, {"reason", write_text(skipped.reason)}};
}

SkippedTool read_skipped(const Place& place) {
  Fields fields(place);
  SkippedTool skipped;
  skipped.tool = fields.at("tool").text();
  skipped.reason = fields.at("reason").text();
  fields.end();
  return skipped;
}

json write_kernel_diagnosis(const KernelDiagnosis& kernel) {
  return {{"kernel", write_text(kernel.kernel)},
          {"share", write_number(kernel.share)},
          {"class", name_of(kernel.kind)},
          {"confidence", write_number(kernel.confidence)},
          {"reason", write_text(kernel.reason)},
          {"roofs", write_list(kernel.roofs, write_roof)},
          {"skipped", write_list(kernel.skipped, write_skipped)},
          {"not_available", write_texts(kernel.not_available)}};
}

KernelDiagnosis read_kernel_diagnosis(const Place& place) {
  Fields fields(place);
  KernelDiagnosis kernel;
  kernel.kernel = fields.at("kernel").text();
  kernel.share = fields.at("share").number();
  kernel.kind = fields.at("class").name(parse_kernel_class, known_classes);
  kernel.confidence = fields.at("confidence").number();
  kernel.reason = fields.at("reason").text();
  kernel.roofs = fields.at("roofs").list(read_roof);
  kernel.skipped = fields.at("skipped").list(read_skipped);
  kernel.not_available = fields.at("not_available").texts();
  fields.end();
  return kernel;
}

Finding read_finding(const Place& place) {
  Fields fields(place);
  Finding finding;
  finding.tool = fields.at("tool").text();
  if (const auto kernel = fields.maybe("kernel")) {
    finding.kernel = kernel->text();
  }
  finding.severity = fields.at("severity").name(parse_severity, known_severities);
  finding.title = fields.at("title").text();
  finding.observed = fields.at("observed").number();
  finding.threshold = fields.at("threshold").number();
  finding.unit = fields.at("unit").text();
  finding.why = fields.at("why").text();
  finding.cause = fields.at("cause").text();
  finding.moves = fields.at("moves").texts();
  finding.predicted_gain = fields.at("predicted_gain").number();
  finding.derivation = fields.at("derivation").text();
  finding.places = fields.at("places").list(read_source_place);
  fields.end();
  return finding;
}

bool has_kernel(const Profile& profile, const std::string& name) {
  return std::ranges::find(profile.kernels, name, &KernelProfile::name) != profile.kernels.end();
}

double read_gain(const Place& place) {
  const double gain = place.finite();
  if (gain < 1) {
    place.complain_expected("a factor of at least 1");
  }
  return gain;
}

// As a user's tool writes it: no id, and what need not be said may be left out.
Finding read_tool_finding(const Place& place, const std::string& tool, const Profile& profile) {
  Fields fields(place);
  Finding finding;
  finding.tool = tool;
  if (const auto kernel = fields.maybe("kernel")) {
    finding.kernel = kernel->text();
    if (!has_kernel(profile, finding.kernel)) {
      kernel->complain_expected("the name of a kernel in the profile");
    }
  }
  if (const auto severity = fields.maybe("severity")) {
    finding.severity = severity->name(parse_severity, known_severities);
  }
  finding.title = fields.at("title").text();
  finding.observed = fields.at("observed").finite();
  finding.threshold = fields.at("threshold").finite();
  finding.unit = fields.at("unit").text();
  finding.why = fields.at("why").text();
  finding.cause = fields.at("cause").text();
  finding.moves = fields.at("moves").texts();
  finding.predicted_gain = read_gain(fields.at("predicted_gain"));
  finding.derivation = fields.at("derivation").text();
  if (const auto places = fields.maybe("places")) {
    finding.places = places->list(read_source_place);
  }
  fields.end();
  return finding;
}

ToolOutput read_tool_output(const Place& place, const std::string& tool, const Profile& profile) {
  Fields fields(place);
  expect_version(fields, tool_version, "a tool's output");
  ToolOutput output;
  output.findings = fields.at("findings").list([&](const Place& item) {
    return read_tool_finding(item, tool, profile);
  });
  if (const auto missing = fields.maybe("not_available")) {
    output.not_available = missing->texts();
  }
  fields.end();
  return output;
}

}  // namespace

DiagnosisReport read_diagnosis(const Place& place) {
  Fields fields(place);
  expect_version(fields, diagnosis_version, "a diagnosis");
  DiagnosisReport report;
  report.kind = fields.at("class").name(parse_kernel_class, known_classes);
  report.reason = fields.at("reason").text();
  report.kernels = fields.at("kernels").list(read_kernel_diagnosis);
  report.findings = fields.at("findings").list(read_finding);
  if (const std::optional<Place> figures = fields.maybe("figures")) {
    report.figures = figures->map([](const Place& one) { return one.number(); });
  }
  fields.end();
  return report;
}

}  // namespace wire

nlohmann::json to_json(const Finding& finding) {
  using namespace wire;
  nlohmann::json json = {{"tool", write_text(finding.tool)},
                         {"severity", name_of(finding.severity)},
                         {"title", write_text(finding.title)},
                         {"observed", write_number(finding.observed)},
                         {"threshold", write_number(finding.threshold)},
                         {"unit", write_text(finding.unit)},
                         {"why", write_text(finding.why)},
                         {"cause", write_text(finding.cause)},
                         {"moves", write_texts(finding.moves)},
                         {"predicted_gain", write_number(finding.predicted_gain)},
                         {"derivation", write_text(finding.derivation)},
                         {"places", write_list(finding.places, write_source_place)}};
  if (!finding.kernel.empty()) {
    json["kernel"] = write_text(finding.kernel);
  }
  return json;
}

nlohmann::json to_json(const DiagnosisReport& report) {
  using namespace wire;
  nlohmann::json json = {{"v", diagnosis_version},
                         {"class", name_of(report.kind)},
                         {"reason", write_text(report.reason)},
                         {"kernels", write_list(report.kernels, write_kernel_diagnosis)},
                         {"findings", write_list(report.findings, [](const Finding& finding) {
                            return to_json(finding);
                          })}};
  for (const auto& [key, value] : report.figures) {
    json["figures"][valid_utf8(key)] = write_number(value);
  }
  return json;
}

Result<DiagnosisReport> diagnosis_from_json(const nlohmann::json& json) {
  return wire::read_document(json, wire::read_diagnosis);
}

nlohmann::json tool_input(const Profile& profile, const std::vector<KernelClass>& classes) {
  return {{"v", wire::tool_version},
          {"profile", to_json(profile)},
          {"classes", wire::write_list(classes, [](KernelClass kind) {
             return nlohmann::json(name_of(kind));
           })}};
}

Result<ToolOutput> tool_output_from_json(const nlohmann::json& json, const std::string& tool,
                                         const Profile& profile) {
  return wire::read_document(
      json, [&](const wire::Place& place) { return wire::read_tool_output(place, tool, profile); });
}

}  // namespace kernelpro
