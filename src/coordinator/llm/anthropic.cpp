#include "coordinator/llm/anthropic.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "common/base/text.hpp"
#include "common/wire/form.hpp"
#include "common/wire/json.hpp"
#include "coordinator/llm/chat_json.hpp"
#include "coordinator/llm/failure.hpp"
#include "coordinator/llm/json_parts.hpp"

namespace kernelpro {
namespace {

using nlohmann::json;

json text_block(const std::string& text) {
  return {{"type", "text"}, {"text", wire::valid_utf8(text)}};
}

void cache(json& block) {
  block["cache_control"] = {{"type", "ephemeral"}};
}

json call_block(const ToolCall& call) {
  return {{"type", "tool_use"},
          {"id", wire::valid_utf8(call.id)},
          {"name", wire::valid_utf8(call.name)},
          {"input", arguments_object(call.arguments)}};
}

json result_block(const ChatMessage& message) {
  json block = {{"type", "tool_result"},
                {"tool_use_id", wire::valid_utf8(message.answers)},
                {"content", wire::valid_utf8(message.text)}};
  if (message.failed) {
    block["is_error"] = true;
  }
  return block;
}

// Empty texts are left out: the API refuses them.
std::vector<json> blocks_of(const ChatMessage& message) {
  if (message.speaker == Speaker::tool) {
    return {result_block(message)};
  }
  std::vector<json> blocks;
  if (!message.text.empty()) {
    blocks.push_back(text_block(message.text));
  }
  for (const ToolCall& call : message.calls) {
    blocks.push_back(call_block(call));
  }
  return blocks;
}

// Results of tools are the user's, and all that follow one turn of the assistant have to stand in
// one message.
json anthropic_messages(const ChatRequest& request) {
  const auto is_user = [](const ChatMessage& message) { return message.speaker == Speaker::user; };
  const auto last_user = std::find_if(request.messages.rbegin(), request.messages.rend(), is_user);
  json messages = json::array();
  for (const ChatMessage& message : request.messages) {
    std::vector<json> blocks = blocks_of(message);
    if (blocks.empty()) {
      continue;
    }
    if (!request.tools.empty() && last_user != request.messages.rend() && &message == &*last_user) {
      cache(blocks.back());
    }
    const std::string role = message.speaker == Speaker::assistant ? "assistant" : "user";
    if (messages.empty() || messages.back()["role"] != role) {
      messages.push_back({{"role", role}, {"content", json::array()}});
    }
    for (json& block : blocks) {
      messages.back()["content"].push_back(std::move(block));
    }
  }
  return messages;
}

json anthropic_tool(const ToolSpec& tool) {
  return {{"name", wire::valid_utf8(tool.name)},
          {"description", wire::valid_utf8(tool.description)},
          {"input_schema", schema_object(tool.schema)}};
}

json body_json(const ChatRequest& request) {
  json body = {{"model", wire::valid_utf8(request.model)},
               {"max_tokens", request.max_output},
               {"messages", anthropic_messages(request)},
               {"stream", true}};
  if (!request.system.empty()) {
    json system = text_block(request.system);
    cache(system);
    body["system"] = json::array({std::move(system)});
  }
  if (!request.tools.empty()) {
    body["tools"] = json_list(request.tools, anthropic_tool);
  }
  if (request.temperature) {
    body["temperature"] = *request.temperature;
  }
  if (!request.stop.empty()) {
    body["stop_sequences"] = wire::written(request.stop);
  }
  return body;
}

StopReason stop_reason(const std::string& name) {
  static const std::map<std::string, StopReason> known = {
      {"end_turn", StopReason::done},
      {"max_tokens", StopReason::length},
      {"model_context_window_exceeded", StopReason::length},
      {"tool_use", StopReason::tool_calls},
      {"stop_sequence", StopReason::stop_text},
      {"refusal", StopReason::refusal}};
  const auto found = known.find(name);
  return found == known.end() ? StopReason::other : found->second;
}

// The numbers of tokens as the provider has them: apart. Later ones replace earlier ones, but for
// 0, which gateways send where they do not know.
class Count {
 public:
  void take(const json& usage) {
    for (auto& [key, tokens] : tokens_) {
      if (const std::optional<std::int64_t> said = tokens_part(usage, key)) {
        tokens = *said > 0 ? *said : tokens.value_or(0);
      }
    }
  }

  [[nodiscard]] std::optional<Usage> usage() const {
    const std::optional<std::int64_t> fresh = tokens_.at("input_tokens");
    const std::optional<std::int64_t> output = tokens_.at("output_tokens");
    if (!fresh || !output) {
      return std::nullopt;
    }
    Usage usage;
    usage.cached = tokens_.at("cache_read_input_tokens").value_or(0);
    usage.cache_written = tokens_.at("cache_creation_input_tokens").value_or(0);
    usage.input = *fresh + usage.cached + usage.cache_written;
    usage.output = *output;
    return usage == Usage{} ? std::nullopt : std::optional(usage);
  }

 private:
  std::map<std::string, std::optional<std::int64_t>> tokens_ = {
      {"input_tokens", {}},
      {"output_tokens", {}},
      {"cache_read_input_tokens", {}},
      {"cache_creation_input_tokens", {}}};
};

void set_usage(ChatAnswer& answer, const Count& count) {
  const std::optional<Usage> usage = count.usage();
  answer.usage = usage.value_or(Usage{});
  answer.usage_known = usage.has_value();
}

class AnthropicStream : public StreamReader {
 public:
  AnthropicStream(Asked asked, TextListener listener)
      : asked_(std::move(asked)), listener_(std::move(listener)) {}

  std::optional<ChatFailure> take(const SseEvent& event) override {
    if (trimmed(event.data) == "[DONE]") {
      ended_ = true;  // as OpenAI ends, and so gateways
      return std::nullopt;
    }
    const Result<json> parsed = parse_json(event.data);
    if (!parsed) {
      return not_json_failure(asked_, "an event of the stream: ", event.data);
    }
    const std::string type = text_part(*parsed, "type");
    if (const json& error = part(*parsed, "error"); type == "error" || !error.is_null()) {
      return reported_failure(asked_, error);
    }
    if (type == "message_start") {
      started_ = true;
      answer_.model = text_part(part(*parsed, "message"), "model");
      count_.take(part(part(*parsed, "message"), "usage"));
    } else if (type == "content_block_start") {
      start_block(*parsed);
    } else if (type == "content_block_delta") {
      take_delta(index_of(*parsed), part(*parsed, "delta"));
    } else if (type == "message_delta") {
      count_.take(part(*parsed, "usage"));
      // There may be several, and not all of them say it.
      if (std::string stop = text_part(part(*parsed, "delta"), "stop_reason"); !stop.empty()) {
        stop_ = std::move(stop);
      }
    } else if (type == "message_stop") {
      ended_ = true;
    }
    return std::nullopt;
  }

  bool begun() const override { return !answer_.text.empty() || !calls_.empty(); }
  bool ended() const override { return ended_; }

  std::optional<ChatAnswer> answer() const override {
    if (stop_.empty() && !(ended_ && started_)) {
      return std::nullopt;
    }
    ChatAnswer answer = answer_;
    answer.stop = stop_reason(stop_);
    for (const auto& [index, call] : calls_) {
      answer.calls.push_back(call);
      if (call.arguments.empty()) {
        answer.calls.back().arguments = inputs_.at(index);
      }
    }
    set_usage(answer, count_);
    return answer;
  }

 private:
  static std::int64_t index_of(const json& event) {
    const json& index = part(event, "index");
    return index.is_number_integer() ? index.get<std::int64_t>() : 0;
  }

  void add_text(const std::string& text) {
    if (!text.empty()) {
      answer_.text += text;
      listener_(text);
    }
  }

  void start_block(const json& event) {
    const json& block = part(event, "content_block");
    if (text_part(block, "type") == "tool_use") {
      const json& input = part(block, "input");
      calls_[index_of(event)] = {text_part(block, "id"), text_part(block, "name"), ""};
      inputs_[index_of(event)] = input.is_object() ? input.dump() : "{}";
    } else if (text_part(block, "type") == "text") {
      add_text(text_part(block, "text"));
    }
  }

  void take_delta(std::int64_t index, const json& delta) {
    const std::string type = text_part(delta, "type");
    if (type == "text_delta") {
      add_text(text_part(delta, "text"));
    } else if (type == "input_json_delta") {
      const auto call = calls_.find(index);
      if (call != calls_.end()) {
        call->second.arguments += text_part(delta, "partial_json");
      }
    }
  }

  Asked asked_;
  TextListener listener_;
  ChatAnswer answer_;
  std::map<std::int64_t, ToolCall> calls_;      // by the index of their block
  std::map<std::int64_t, std::string> inputs_;  // whole, of gateways that do not stream arguments
  Count count_;
  std::string stop_;
  bool started_ = false;
  bool ended_ = false;
};

class Anthropic : public Dialect {
 public:
  explicit Anthropic(const BaseUrl& base) : url_(base.text) {
    if (!url_.ends_with("/messages")) {
      url_ += url_.ends_with("/v1") ? "/messages" : "/v1/messages";
    }
  }

  std::string url() const override { return url_; }

  std::string body(const ChatRequest& request) const override { return body_json(request).dump(); }

  std::vector<std::string> headers(const std::string& key) const override {
    return {"x-api-key: " + key, "anthropic-version: 2023-06-01"};
  }

  std::unique_ptr<StreamReader> read_stream(Asked asked,
                                            const TextListener& listener) const override {
    return std::make_unique<AnthropicStream>(std::move(asked), listener);
  }

  Result<ChatAnswer> read_whole(const json& body) const override {
    const json& content = part(body, "content");
    if (!content.is_array() || text_part(body, "type") != "message") {
      return make_error(ErrorKind::lost, "this is no message of a model");
    }
    ChatAnswer answer;
    for (const json& block : content) {
      const std::string type = text_part(block, "type");
      if (type == "text") {
        answer.text += text_part(block, "text");
      } else if (type == "tool_use") {
        answer.calls.push_back(
            {text_part(block, "id"), text_part(block, "name"), part(block, "input").dump()});
      }
    }
    answer.stop = stop_reason(text_part(body, "stop_reason"));
    answer.model = text_part(body, "model");
    Count count;
    count.take(part(body, "usage"));
    set_usage(answer, count);
    return answer;
  }

 private:
  std::string url_;
};

}  // namespace

std::unique_ptr<Dialect> anthropic_dialect(const BaseUrl& base) {
  return std::make_unique<Anthropic>(base);
}

}  // namespace kernelpro
