#include "coordinator/llm/chat_json.hpp"

#include <nlohmann/json.hpp>

#include "common/wire/json.hpp"
#include "common/wire/llm_json.hpp"
#include "common/wire/writer.hpp"

namespace kernelpro {
namespace {

using wire::Fields;
using wire::Place;

nlohmann::json tool_call_json(const ToolCall& call) {
  return {{"id", wire::write_text(call.id)},
          {"name", wire::write_text(call.name)},
          {"arguments", wire::write_text(call.arguments)}};
}

ToolCall read_tool_call(const Place& place) {
  Fields fields(place);
  ToolCall call;
  call.id = fields.at("id").text();
  call.name = fields.at("name").text();
  call.arguments = fields.at("arguments").text();
  fields.end();
  return call;
}

ChatAnswer read_answer(const Place& place) {
  Fields fields(place);
  ChatAnswer answer;
  answer.text = fields.at("text").text();
  answer.calls = fields.at("calls").list(read_tool_call);
  answer.stop = fields.at("stop").name(parse_stop_reason,
                                       "done, length, tool_calls, stop_text, refusal, other");
  answer.usage = wire::read_usage(fields.at("usage"));
  answer.usage_known = fields.at("usage_known").truth();
  answer.model = fields.at("model").text();
  fields.end();
  return answer;
}

}  // namespace

nlohmann::json to_json(const ChatAnswer& answer) {
  return {{"text", wire::write_text(answer.text)},
          {"calls", wire::write_list(answer.calls, tool_call_json)},
          {"stop", name_of(answer.stop)},
          {"usage", to_json(answer.usage)},
          {"usage_known", answer.usage_known},
          {"model", wire::write_text(answer.model)}};
}

Result<ChatAnswer> chat_answer_from_json(const nlohmann::json& json) {
  return wire::read_document(json, read_answer);
}

nlohmann::json arguments_object(const std::string& arguments) {
  Result<nlohmann::json> parsed = parse_json(arguments);
  if (parsed && parsed->is_object()) {
    return std::move(*parsed);
  }
  return {{"unreadable_arguments", wire::write_text(arguments)}};
}

nlohmann::json schema_object(const std::string& schema) {
  Result<nlohmann::json> parsed = parse_json(schema);
  if (parsed && parsed->is_object()) {
    return std::move(*parsed);
  }
  return {{"type", "object"}, {"properties", nlohmann::json::object()}};
}

}  // namespace kernelpro
