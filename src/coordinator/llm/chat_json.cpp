#include "coordinator/llm/chat_json.hpp"

#include <nlohmann/json.hpp>

#include "common/wire/json.hpp"
#include "common/wire/llm_json.hpp"

namespace kernelpro {

KP_LAST(StopReason, other);

KP_DESCRIBE(ToolCall, id, name, arguments)
KP_DESCRIBE(ChatAnswer, text, calls, stop, usage, usage_known, model)
KP_JSON_OF(ChatAnswer, chat_answer_from_json)

nlohmann::json arguments_object(const std::string& arguments) {
  Result<nlohmann::json> parsed = parse_json(arguments);
  if (parsed && parsed->is_object()) {
    return std::move(*parsed);
  }
  return {{"unreadable_arguments", wire::valid_utf8(arguments)}};
}

nlohmann::json schema_object(const std::string& schema) {
  Result<nlohmann::json> parsed = parse_json(schema);
  if (parsed && parsed->is_object()) {
    return std::move(*parsed);
  }
  return {{"type", "object"}, {"properties", nlohmann::json::object()}};
}

}  // namespace kernelpro
