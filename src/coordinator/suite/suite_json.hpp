// The JSON form of a suite's file, and of what PyTorch answers for it.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/suite.hpp"

namespace kernelpro {

// As strict as common/wire/json.hpp.
[[nodiscard]] nlohmann::json to_json(const SuiteHeader&);
[[nodiscard]] nlohmann::json to_json(const SuiteRecord&);
[[nodiscard]] Result<SuiteHeader> suite_header_from_json(const nlohmann::json& json);
[[nodiscard]] Result<SuiteRecord> suite_record_from_json(const nlohmann::json& json);

// One answer of `torch_oracle.py survey`.
struct SurveyAnswer {
  std::string problem;  // the path that was asked for
  std::string device;   // a GPU's name, or "cpu"
  std::string described;
  std::string refused;
  std::vector<std::string> degenerate;
  std::map<std::string, std::vector<double>> times;
  std::map<std::string, std::string> failed;
};

// Keys that are not known are passed over. A time that is not finite and positive is an error.
[[nodiscard]] Result<SurveyAnswer> survey_answer_from_json(const nlohmann::json& json);

}  // namespace kernelpro
