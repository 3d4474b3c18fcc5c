#include "common/wire/finding_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/wire/profile_json.hpp"
#include "common/wire/values.hpp"

namespace kernelpro {

KP_LAST(Severity, high);

namespace {

constexpr std::int64_t tool_version = 1;

// What our tools and those of users say alike. `finite`: null is no number.
void describe_claim(Form& form, Finding& finding, bool finite) {
  const auto number = [&](const char* key, double& value) {
    if (finite) {
      form.finite(key, value);
    } else {
      form(key, value);
    }
  };
  form("title", finding.title);
  KP_FIELDS(number, finding, observed, threshold);
  KP_FIELDS(form, finding, unit, why, cause, moves);
  number("predicted_gain", finding.predicted_gain);
  form.expect(!finite || finding.predicted_gain >= 1, "a factor of at least 1");
  form("derivation", finding.derivation);
}

// As a user's tool writes it: no id, and what need not be said may be left out.
Finding read_tool_finding(const Place& place, const std::string& tool, const Profile& profile) {
  Form form(place);
  Finding finding;
  finding.tool = tool;
  form.nonempty("kernel", finding.kernel);
  form.expect(std::ranges::find(profile.kernels, finding.kernel, &KernelProfile::name) !=
                  profile.kernels.end(),
              "the name of a kernel in the profile");
  form.maybe("severity", finding.severity);
  describe_claim(form, finding, true);
  form.maybe("places", finding.places);
  form.end();
  return finding;
}

}  // namespace

// What a tool printed about a profile.
struct ToolReading {
  const std::string& tool;
  const Profile& profile;
  ToolOutput output;
};

void describe(Form& form, ToolReading& reading) {
  form.version(tool_version, "a tool's output");
  for (const Place& item : form.place("findings").items()) {
    reading.output.findings.push_back(read_tool_finding(item, reading.tool, reading.profile));
  }
  form.maybe("not_available", reading.output.not_available);
}

KP_DESCRIBE(RoofUse, roof, share, text)
KP_DESCRIBE(SkippedTool, tool, reason)

void describe(Form& form, KernelDiagnosis& kernel) {
  KP_FIELDS(form, kernel, kernel, share);
  form("class", kernel.kind);
  KP_FIELDS(form, kernel, confidence, reason, roofs, skipped, not_available);
}

void describe(Form& form, Finding& finding) {
  form("tool", finding.tool);
  form.nonempty("kernel", finding.kernel);
  form("severity", finding.severity);
  describe_claim(form, finding, false);
  form.maybe("derived_gain", finding.derived_gain, finding.derived_gain > 0);
  form("places", finding.places);
}

void describe(Form& form, DiagnosisReport& report) {
  form.version(1, "a diagnosis");
  form("class", report.kind);
  KP_FIELDS(form, report, reason, kernels, findings);
  form.nonempty("figures", report.figures);
}

nlohmann::json to_json(const Finding& finding) {
  return wire::written(finding);
}

KP_JSON_OF(DiagnosisReport, diagnosis_from_json)

nlohmann::json tool_input(const Profile& profile, const std::vector<KernelClass>& classes) {
  return {{"v", tool_version}, {"profile", to_json(profile)}, {"classes", wire::written(classes)}};
}

Result<ToolOutput> tool_output_from_json(const nlohmann::json& json, const std::string& tool,
                                         const Profile& profile) {
  KP_LET(ToolReading reading, wire::read_whole(json, ToolReading{tool, profile, {}}));
  return std::move(reading.output);
}

}  // namespace kernelpro
