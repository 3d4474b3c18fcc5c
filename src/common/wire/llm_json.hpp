// The JSON form of what a run asks of language models.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.hpp"
#include "common/model/llm.hpp"
#include "common/wire/reader.hpp"

namespace kernelpro {

[[nodiscard]] nlohmann::json to_json(const LlmSettings& settings);
[[nodiscard]] nlohmann::json to_json(const Usage& usage);

namespace wire {

[[nodiscard]] LlmSettings read_llm_settings(const Place& place);
[[nodiscard]] Usage read_usage(const Place& place);

}  // namespace wire

}  // namespace kernelpro
