// The JSON form of a model's answer, as it is kept.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/base/result.hpp"
#include "coordinator/llm/chat.hpp"

namespace kernelpro {

[[nodiscard]] nlohmann::json to_json(const ChatAnswer& answer);
// As strict as common/wire/json.hpp.
[[nodiscard]] Result<ChatAnswer> chat_answer_from_json(const nlohmann::json& json);

// The arguments of a call as an object. What is no JSON object is put into one, under
// "unreadable_arguments": providers take nothing else back, and the model shall see what it wrote.
[[nodiscard]] nlohmann::json arguments_object(const std::string& arguments);

// The schema of a tool's arguments; one without parameters where it is no JSON object.
[[nodiscard]] nlohmann::json schema_object(const std::string& schema);

}  // namespace kernelpro
