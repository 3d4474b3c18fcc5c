#include "coordinator/llm/openai_form.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/wire/form.hpp"
#include "coordinator/llm/chat_json.hpp"
#include "coordinator/llm/json_parts.hpp"

namespace kernelpro {
namespace {

using nlohmann::json;

json call_json(const ToolCall& call) {
  return {{"id", wire::valid_utf8(call.id)},
          {"type", "function"},
          {"function",
           {{"name", wire::valid_utf8(call.name)},
            {"arguments", arguments_object(call.arguments).dump()}}}};
}

json assistant_json(const ChatMessage& message) {
  json out = {{"role", "assistant"}, {"content", wire::valid_utf8(message.text)}};
  if (!message.calls.empty()) {
    out["tool_calls"] = json_list(message.calls, call_json);
    if (message.text.empty()) {
      out["content"] = nullptr;
    }
  }
  return out;
}

json message_json(const ChatMessage& message) {
  switch (message.speaker) {
    case Speaker::user:
      return {{"role", "user"}, {"content", wire::valid_utf8(message.text)}};
    case Speaker::assistant:
      return assistant_json(message);
    case Speaker::tool:
      break;
  }
  return {{"role", "tool"},
          {"tool_call_id", wire::valid_utf8(message.answers)},
          {"content", wire::valid_utf8((message.failed ? "Error: " : "") + message.text)}};
}

json openai_tool(const ToolSpec& tool) {
  return {{"type", "function"},
          {"function",
           {{"name", wire::valid_utf8(tool.name)},
            {"description", wire::valid_utf8(tool.description)},
            {"parameters", schema_object(tool.schema)}}}};
}

json openai_messages(const ChatRequest& request) {
  json messages = json::array();
  if (!request.system.empty()) {
    messages.push_back({{"role", "system"}, {"content", wire::valid_utf8(request.system)}});
  }
  for (const ChatMessage& message : request.messages) {
    messages.push_back(message_json(message));
  }
  return messages;
}

std::vector<ToolCall> calls_of(const json& message) {
  std::vector<ToolCall> calls;
  const json& given = part(message, "tool_calls");
  if (given.is_array()) {
    for (const json& call : given) {
      const json& function = part(call, "function");
      calls.push_back(
          {text_part(call, "id"), text_part(function, "name"), arguments_text(function)});
      if (calls.back().arguments.empty()) {
        calls.back().arguments = "{}";
      }
    }
  }
  return calls;
}

Error no_completion(const json& body) {
  const json& error = part(body, "error");
  const std::string message =
      error.is_string() ? error.get<std::string>() : text_part(error, "message");
  if (!message.empty()) {
    return make_error(ErrorKind::lost, "the provider answered with an error: " + message);
  }
  return make_error(ErrorKind::lost,
                    R"(this is no chat completion: expected "choices" with a "message" in it)");
}

}  // namespace

std::string content_text(const json& content) {
  if (content.is_string()) {
    return content.get<std::string>();
  }
  std::string text;
  if (content.is_array()) {
    for (const json& piece : content) {
      text += text_part(piece, "text");
    }
  }
  return text;
}

std::string arguments_text(const json& function) {
  const json& arguments = part(function, "arguments");
  if (arguments.is_string()) {
    return arguments.get<std::string>();
  }
  return arguments.is_null() ? "" : arguments.dump();
}

json openai_body(const ChatRequest& request, bool stream, std::string_view limit_name) {
  json body = {{"model", wire::valid_utf8(request.model)},
               {"messages", openai_messages(request)},
               {std::string(limit_name), request.max_output}};
  if (!request.tools.empty()) {
    body["tools"] = json_list(request.tools, openai_tool);
  }
  if (request.temperature) {
    body["temperature"] = *request.temperature;
  }
  if (!request.stop.empty()) {
    body["stop"] = wire::written(request.stop);
  }
  if (stream) {
    body["stream"] = true;
    body["stream_options"] = {{"include_usage", true}};
  }
  return body;
}

std::optional<Usage> openai_usage(const json& usage) {
  const std::optional<std::int64_t> input = tokens_part(usage, "prompt_tokens");
  const std::optional<std::int64_t> output = tokens_part(usage, "completion_tokens");
  if (!input || !output || (*input == 0 && *output == 0)) {
    return std::nullopt;
  }
  // Some leave what was thought out of the completion, not out of the total.
  const std::int64_t total = tokens_part(usage, "total_tokens").value_or(0);
  const std::int64_t cached =
      tokens_part(part(usage, "prompt_tokens_details"), "cached_tokens").value_or(0);
  return Usage{.input = *input,
               .cached = std::min(cached, *input),
               .cache_written = 0,
               .output = std::max(*output, total - *input)};
}

StopReason openai_stop_reason(std::string_view finish_reason, bool calls) {
  if (finish_reason == "content_filter") {
    return StopReason::refusal;
  }
  if (finish_reason == "length") {
    return StopReason::length;
  }
  if (calls) {
    return StopReason::tool_calls;
  }
  return finish_reason == "stop" ? StopReason::done : StopReason::other;
}

Result<ChatAnswer> answer_from_completion(const json& completion) {
  const json& choices = part(completion, "choices");
  if (!choices.is_array() || choices.empty() || !part(choices[0], "message").is_object()) {
    return no_completion(completion);
  }
  const json& message = part(choices[0], "message");
  ChatAnswer answer;
  answer.text = content_text(part(message, "content"));
  answer.calls = calls_of(message);
  answer.stop = openai_stop_reason(text_part(choices[0], "finish_reason"), !answer.calls.empty());
  if (const std::string refusal = text_part(message, "refusal"); !refusal.empty()) {
    answer.stop = StopReason::refusal;
    answer.text = answer.text.empty() ? refusal : answer.text;
  }
  if (const std::optional<Usage> usage = openai_usage(part(completion, "usage"))) {
    answer.usage = *usage;
    answer.usage_known = true;
  }
  answer.model = text_part(completion, "model");
  return answer;
}

}  // namespace kernelpro
