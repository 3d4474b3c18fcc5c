// The JSON form of what a run asks of language models.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.hpp"
#include "common/model/llm.hpp"
#include "common/wire/reader.hpp"

namespace kernelpro {

[[nodiscard]] nlohmann::json to_json(const LlmSettings&);
[[nodiscard]] nlohmann::json to_json(const Usage&);

// A call without its request and its answer, which are JSON themselves, and large.
[[nodiscard]] nlohmann::json to_json(const LlmCall&);
// As strict as common/wire/json.hpp.
[[nodiscard]] Result<LlmCall> llm_call_from_json(const nlohmann::json& json);

namespace wire {

class Form;

[[nodiscard]] LlmSettings read_llm_settings(const Place& place);
[[nodiscard]] Usage read_usage(const Place& place);         // no number is negative
[[nodiscard]] std::int64_t read_count(const Place& place);  // not negative

}  // namespace wire

void describe(wire::Form& form, LlmSettings&);

}  // namespace kernelpro
