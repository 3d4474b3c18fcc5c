// The JSON form of a run's settings and of its ranking, as a store keeps them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/run.hpp"

namespace kernelpro {

[[nodiscard]] nlohmann::json to_json(const RunSettings&);

// As strict as common/wire/json.hpp, but a key that is missing has its default: settings that were
// written before a key existed can still be read.
[[nodiscard]] Result<RunSettings> run_settings_from_json(const nlohmann::json& json);

// A list, the best first.
[[nodiscard]] nlohmann::json to_json(const std::vector<Finalist>&);
[[nodiscard]] Result<std::vector<Finalist>> ranking_from_json(const nlohmann::json& json);

}  // namespace kernelpro
