#include "coordinator/llm/token_count.hpp"

#include <nlohmann/json.hpp>

#include "common/wire/writer.hpp"
#include "coordinator/llm/chat_json.hpp"

namespace kernelpro {
namespace {

// Known templates take fewer than 10 for a message, and up to 530 to explain that there are tools.
constexpr std::int64_t request_margin = 256;
constexpr std::int64_t message_margin = 32;
constexpr std::int64_t tools_margin = 1024;
constexpr std::int64_t tool_margin = 64;
constexpr std::int64_t json_times = 4;

std::int64_t size_of(std::string_view text) {
  return static_cast<std::int64_t>(text.size());
}

// As it is sent: a byte that is no UTF-8 becomes three.
std::int64_t sent_bytes(std::string_view text) {
  return size_of(wire::valid_utf8(text));
}

std::int64_t json_bytes(const nlohmann::json& value) {
  return json_times * size_of(value.dump());
}

std::int64_t most_of_message(const ChatMessage& message) {
  std::int64_t sum = message_margin + sent_bytes(message.text) + sent_bytes(message.answers);
  for (const ToolCall& call : message.calls) {
    sum += tool_margin + sent_bytes(call.id) + sent_bytes(call.name) +
           json_bytes(arguments_object(call.arguments));
  }
  return sum;
}

std::int64_t most_of_tool(const ToolSpec& tool) {
  return tool_margin + sent_bytes(tool.name) + sent_bytes(tool.description) +
         json_bytes(schema_object(tool.schema));
}

std::int64_t bytes_of_calls(const std::vector<ToolCall>& calls) {
  std::int64_t sum = 0;
  for (const ToolCall& call : calls) {
    sum += size_of(call.name) + size_of(call.arguments);
  }
  return sum;
}

// Divides by 3.5, upwards.
std::int64_t about_tokens_of(std::int64_t bytes) {
  return (2 * bytes + 6) / 7;
}

}  // namespace

std::int64_t most_input_tokens(const ChatRequest& request) {
  std::int64_t sum = request_margin + message_margin + sent_bytes(request.system);
  for (const ChatMessage& message : request.messages) {
    sum += most_of_message(message);
  }
  if (!request.tools.empty()) {
    sum += tools_margin;
  }
  for (const ToolSpec& tool : request.tools) {
    sum += most_of_tool(tool);
  }
  return sum;
}

std::int64_t about_tokens(std::string_view text) {
  return about_tokens_of(size_of(text));
}

std::int64_t about_input_tokens(const ChatRequest& request) {
  std::int64_t bytes = size_of(request.system);
  for (const ChatMessage& message : request.messages) {
    bytes += size_of(message.text) + bytes_of_calls(message.calls);
  }
  for (const ToolSpec& tool : request.tools) {
    bytes += size_of(tool.name) + size_of(tool.description) + size_of(tool.schema);
  }
  return about_tokens_of(bytes);
}

std::int64_t about_output_tokens(const ChatAnswer& answer) {
  return about_tokens_of(size_of(answer.text) + bytes_of_calls(answer.calls));
}

}  // namespace kernelpro
