// The one result of a piece of work, as JSON: schemas/openapi.json says what is in it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "coordinator/app/standing_judge.hpp"

namespace kernelpro::serve {

[[nodiscard]] nlohmann::json evaluation_result(const Evaluated& evaluated, bool timed);
[[nodiscard]] nlohmann::json diagnosis_result(const Evaluated& evaluated, Backend backend);
[[nodiscard]] nlohmann::json diagnosis_result(const Diagnosed& diagnosed);
// It could not be judged, and that is not its fault.
[[nodiscard]] nlohmann::json unjudged_result(const std::string& why);
// An equal one's, marked so.
[[nodiscard]] nlohmann::json stored_result(nlohmann::json result, const std::string& id);

}  // namespace kernelpro::serve
