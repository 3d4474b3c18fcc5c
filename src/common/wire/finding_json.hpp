// The JSON form of a diagnosis, and of what a user's tool reads and answers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/finding.hpp"

namespace kernelpro {

[[nodiscard]] nlohmann::json to_json(const Finding&);
[[nodiscard]] nlohmann::json to_json(const DiagnosisReport&);
// As strict as common/wire/json.hpp.
[[nodiscard]] Result<DiagnosisReport> diagnosis_from_json(const nlohmann::json& json);

// What a user's tool gets on its standard input; `classes` has one for each kernel of the profile.
[[nodiscard]] nlohmann::json tool_input(const Profile& profile,
                                        const std::vector<KernelClass>& classes);

struct ToolOutput {
  std::vector<Finding> findings;
  std::vector<std::string> not_available;
};

// What it printed; `tool` becomes the id in its findings. Numbers must be finite, a predicted gain
// at least 1, and a kernel one of `profile`.
[[nodiscard]] Result<ToolOutput> tool_output_from_json(const nlohmann::json& json,
                                                       const std::string& tool,
                                                       const Profile& profile);

}  // namespace kernelpro
