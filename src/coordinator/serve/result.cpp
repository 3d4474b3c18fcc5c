#include "coordinator/serve/result.hpp"

#include <nlohmann/json.hpp>

#include "coordinator/app/reward.hpp"
#include "coordinator/app/views.hpp"
#include "coordinator/propose/diagnosis.hpp"

namespace kernelpro::serve {

using nlohmann::json;

json evaluation_result(const Evaluated& evaluated, bool timed) {
  const Verdict& verdict = evaluated.certificate.verdict;
  return {{"verdict", verdict_view(evaluated.certificate)},
          {"suspect", verdict.suspect},
          {"verified", verdict.verified},
          {"reward", to_json(reward_of(verdict, timed))},
          {"build_seconds", rounded(static_cast<double>(verdict.build_ns) * 1e-9)},
          {"judge_seconds", rounded(static_cast<double>(verdict.judge_ns) * 1e-9)}};
}

json diagnosis_result(const Evaluated& evaluated, Backend backend) {
  return {{"diagnosis", diagnosis_view(diagnose(evaluated.certificate.verdict.timing), backend)},
          {"verdict", verdict_view(evaluated.certificate)}};
}

json diagnosis_result(const Diagnosed& diagnosed) {
  return {{"diagnosis",
           {{"class", name_of(diagnosed.report.kind)},
            {"text", diagnosed.report.reason},
            {"findings", findings_view(diagnosed.report.findings)}}}};
}

json unjudged_result(const std::string& why) {
  Verdict verdict;
  verdict.outcome = Outcome::not_judged;
  return {{"verdict", {{"name", ""}, {"outcome", name_of(verdict.outcome)}, {"summary", why}}},
          {"suspect", false},
          {"verified", true},
          {"reward", to_json(reward_of(verdict, false))}};
}

json stored_result(json result, const std::string& id) {
  result["stored"] = true;
  result["stored_from"] = id;
  return result;
}

}  // namespace kernelpro::serve
