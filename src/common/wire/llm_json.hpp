// The JSON form of what a run asks of language models.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.hpp"
#include "common/model/llm.hpp"
#include "common/wire/form.hpp"

namespace kernelpro {

KP_LAST(LlmRole, reviewer);

[[nodiscard]] nlohmann::json to_json(const LlmSettings&);

// A call without its request and its answer, which are JSON themselves, and large.
[[nodiscard]] nlohmann::json to_json(const LlmCall&);
// As strict as common/wire/json.hpp.
[[nodiscard]] Result<LlmCall> llm_call_from_json(const nlohmann::json& json);

void describe(Form& form, Usage&);
void describe(Form& form, LlmSettings&);

}  // namespace kernelpro
