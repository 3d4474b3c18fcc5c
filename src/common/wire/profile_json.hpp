// The JSON form of a profile. What was not measured has no key.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.hpp"
#include "common/model/profile.hpp"

namespace kernelpro {

// Figures are {"value": 12.5, "origin": "counter"}. One that is not finite is written as missing.
[[nodiscard]] nlohmann::json to_json(const Profile&);
// As strict as common/wire/json.hpp.
[[nodiscard]] Result<Profile> profile_from_json(const nlohmann::json& json);

}  // namespace kernelpro
