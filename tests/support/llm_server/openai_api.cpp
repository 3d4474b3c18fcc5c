#include "support/llm_server/api.hpp"
#include "support/llm_server/refusal.hpp"

namespace kernelpro::llm_server {
namespace {

using nlohmann::json;

constexpr std::size_t most_stops = 4;

class OpenAiRequest {
 public:
  explicit OpenAiRequest(const json& body) : body_(body) {
    require_keys(body, "body",
                 {"model", "messages", "max_tokens", "max_completion_tokens", "tools",
                  "tool_choice", "stream", "stream_options", "temperature", "top_p", "stop", "n",
                  "seed", "user", "response_format"});
    talk_.model = require_text(body, "model", "body");
    read_limit();
    require_range(body, "temperature", 2);
    read_stops();
    read_stream();
    read_tools();
    read_messages();
  }

  [[nodiscard]] const Talk& talk() const { return talk_; }
  [[nodiscard]] bool stream() const { return body_.value("stream", false); }
  [[nodiscard]] bool wants_usage() const {
    return body_.value("stream_options", json::object()).value("include_usage", false);
  }

 private:
  void read_limit() {
    require(!(body_.contains("max_tokens") && body_.contains("max_completion_tokens")),
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.");
    for (const char* const key : {"max_tokens", "max_completion_tokens"}) {
      if (body_.contains(key)) {
        require_count(body_[key], key);
        talk_.max_tokens = body_[key].get<std::int64_t>();
      }
    }
  }

  void read_stops() {
    if (!body_.contains("stop")) {
      return;
    }
    const json stops = body_["stop"].is_string() ? json::array({body_["stop"]}) : body_["stop"];
    require(stops.is_array() && stops.size() <= most_stops, "stop: at most 4 texts");
    for (const json& stop : stops) {
      require(stop.is_string(), "stop: should be texts");
      talk_.stop.push_back(stop);
    }
  }

  void read_stream() {
    if (body_.contains("stream_options")) {
      require(stream(), "The 'stream_options' parameter is only allowed when 'stream' is enabled.");
      require_keys(body_["stream_options"], "stream_options", {"include_usage"});
    }
  }

  void read_tools() {
    for (const json& tool : body_.value("tools", json::array())) {
      require_keys(tool, "tools", {"type", "function"});
      require(require_text(tool, "type", "tools") == "function", "tools.type: unknown");
      require(tool.contains("function"), "tools.function: missing");
      const json& function = tool["function"];
      require_keys(function, "tools.function", {"name", "description", "parameters", "strict"});
      const std::string name = require_text(function, "name", "tools.function");
      require(!function.contains("parameters") || function["parameters"].is_object(),
              "tools.function.parameters: should be an object");
      talk_.tool = talk_.tool.empty() ? name : talk_.tool;
    }
  }

  void read_messages() {
    require(
        body_.contains("messages") && body_["messages"].is_array() && !body_["messages"].empty(),
        "messages: is too short");
    for (const json& message : body_["messages"]) {
      const std::string role = require_text(message, "role", "messages");
      if (role == "tool") {
        read_result(message);
        continue;
      }
      require(waiting_.empty(),
              "An assistant message with 'tool_calls' must be followed by tool messages responding "
              "to each 'tool_call_id'.");
      read_message(role, message);
    }
    require(waiting_.empty(),
            "An assistant message with 'tool_calls' must be followed by tool messages responding "
            "to each 'tool_call_id'.");
  }

  void read_message(const std::string& role, const json& message) {
    if (role == "assistant") {
      require_keys(message, "messages", {"role", "content", "tool_calls", "name", "refusal"});
      read_calls(message.value("tool_calls", json::array()));
      require(!waiting_.empty() || (message.contains("content") && !message["content"].is_null()),
              "messages.content: expected a string, got null");
    } else {
      require(role == "system" || role == "developer" || role == "user",
              "Invalid value: '" + role +
                  "'. Supported values are: 'system', 'assistant', 'user', "
                  "'function', 'tool', and 'developer'.");
      require_keys(message, "messages", {"role", "content", "name"});
      require(message.contains("content"), "messages.content: missing");
    }
    const std::string text = read_content(message.value("content", json()));
    if (role == "user") {
      talk_.last_text = text;
      talk_.has_result = false;
    }
  }

  std::string read_content(const json& content) {
    std::string text;
    if (content.is_string()) {
      text = content;
    } else if (content.is_array()) {
      for (const json& part : content) {
        require(require_text(part, "type", "messages.content") == "text",
                "messages.content.type: only text here");
        text += require_text(part, "text", "messages.content");
      }
    } else {
      require(content.is_null(), "messages.content: expected a string");
    }
    talk_.input_tokens += count_words(text);
    return text;
  }

  void read_calls(const json& calls) {
    require(calls.is_array(), "messages.tool_calls: should be a list");
    for (const json& call : calls) {
      require_keys(call, "messages.tool_calls", {"id", "type", "function"});
      require(require_text(call, "type", "messages.tool_calls") == "function",
              "messages.tool_calls.type: unknown");
      require(call.contains("function"), "messages.tool_calls.function: missing");
      (void)require_text(call["function"], "name", "messages.tool_calls.function");
      (void)require_text(call["function"], "arguments", "messages.tool_calls.function");
      require(waiting_.insert(require_text(call, "id", "messages.tool_calls")).second,
              "messages.tool_calls.id: twice");
    }
  }

  void read_result(const json& message) {
    require_keys(message, "messages", {"role", "content", "tool_call_id", "name"});
    require(waiting_.erase(require_text(message, "tool_call_id", "messages")) == 1,
            "messages with role 'tool' must be a response to a preceeding message with "
            "'tool_calls'.");
    require(message.contains("content"), "messages.content: missing");
    talk_.tool_result = read_content(message["content"]);
    talk_.has_result = true;
  }

  const json& body_;
  Talk talk_;
  std::set<std::string> waiting_;  // calls without a result so far
};

void refuse_openai_models(const std::string& model) {
  if (model == "no-such-model") {
    throw Refusal(404, "invalid_request_error",
                  "The model `" + model + "` does not exist or you do not have access to it.",
                  "model_not_found");
  }
  if (model == "limited-model") {
    throw Refusal(429, "requests", "Rate limit reached for " + model, "rate_limit_exceeded");
  }
  if (model == "overloaded-model") {
    throw Refusal(503, "server_error", "The engine is currently overloaded.");
  }
  if (model == "failing-model") {
    throw Refusal(500, "server_error", "The server had an error while processing your request.");
  }
  if (model == "broke-model") {
    throw Refusal(429, "insufficient_quota",
                  "You exceeded your current quota, please check your plan and billing details.",
                  "insufficient_quota");
  }
}

std::string finish_reason(const Said& said) {
  if (said.refuses) {
    return "content_filter";
  }
  if (said.cut) {
    return "length";
  }
  return said.calls_tool ? "tool_calls" : "stop";
}

json openai_call(const Talk& talk) {
  return {
      {"id", "call_01"},
      {"type", "function"},
      {"function", {{"name", talk.tool}, {"arguments", json({{"text", talk.last_text}}).dump()}}}};
}

json usage_json(const Talk& talk, const Said& said) {
  return {{"prompt_tokens", talk.input_tokens},
          {"completion_tokens", said.tokens},
          {"total_tokens", talk.input_tokens + said.tokens},
          {"prompt_tokens_details", {{"cached_tokens", 0}}}};
}

json frame(const Talk& talk, const std::string& object) {
  return {{"id", "chatcmpl-01"}, {"object", object}, {"created", 0}, {"model", talk.model}};
}

json completion_json(const Talk& talk, const Said& said) {
  json message = {{"role", "assistant"}, {"content", said.text}, {"refusal", nullptr}};
  if (said.has_call()) {
    message["tool_calls"] = json::array({openai_call(talk)});
  }
  json completion = frame(talk, "chat.completion");
  completion["choices"] = json::array({{{"index", 0},
                                        {"message", message},
                                        {"logprobs", nullptr},
                                        {"finish_reason", finish_reason(said)}}});
  completion["usage"] = usage_json(talk, said);
  return completion;
}

class Chunks {
 public:
  explicit Chunks(const Talk& talk) : talk_(talk) {}

  void add(const json& delta, const json& finish = nullptr) {
    json chunk = frame(talk_, "chat.completion.chunk");
    chunk["choices"] = json::array({{{"index", 0}, {"delta", delta}, {"finish_reason", finish}}});
    add_data(chunk.dump());
  }
  void add_usage(const json& usage) {
    json chunk = frame(talk_, "chat.completion.chunk");
    chunk["choices"] = json::array();
    chunk["usage"] = usage;
    add_data(chunk.dump());
  }
  void add_data(const std::string& data) { pieces.push_back("data: " + data + "\n\n"); }

  std::vector<std::string> pieces;

 private:
  const Talk& talk_;
};

void stream_call(Chunks& chunks, json call) {
  const std::string arguments = call["function"]["arguments"];
  const std::size_t half = arguments.size() / 2;
  call["index"] = 0;
  call["function"]["arguments"] = "";
  chunks.add({{"tool_calls", json::array({call})}});
  for (const std::string& piece : {arguments.substr(0, half), arguments.substr(half)}) {
    chunks.add(
        {{"tool_calls", json::array({{{"index", 0}, {"function", {{"arguments", piece}}}}})}});
  }
}

std::vector<std::string> stream_pieces(const OpenAiRequest& request, const Said& said) {
  Chunks chunks(request.talk());
  chunks.add({{"role", "assistant"}, {"content", ""}, {"refusal", nullptr}});
  for (const std::string& word : words(said.text)) {
    chunks.add({{"content", word}});
  }
  if (said.has_call()) {
    stream_call(chunks, openai_call(request.talk()));
  }
  chunks.add(json::object(), finish_reason(said));
  if (request.wants_usage()) {
    chunks.add_usage(usage_json(request.talk(), said));
  }
  chunks.add_data("[DONE]");
  return std::move(chunks.pieces);
}

void check_openai_head(const Seen& seen, const std::string& key) {
  const auto sent = seen.headers.find("authorization");
  if (!key.empty() && (sent == seen.headers.end() || sent->second != "Bearer " + key)) {
    throw Refusal(401, "invalid_request_error", "Incorrect API key provided.", "invalid_api_key");
  }
  if (seen.method != "POST") {
    throw Refusal(405, "invalid_request_error", "Only POST requests are accepted.");
  }
}

}  // namespace

Reply openai_reply(const Seen& seen, const std::string& key) {
  Reply reply;
  try {
    check_openai_head(seen, key);
    const json body = json::parse(seen.body, nullptr, false);
    require(!body.is_discarded(), "We could not parse the JSON body of your request.");
    const OpenAiRequest request(body);
    refuse_openai_models(request.talk().model);
    const Said said = say(request.talk());
    if (request.stream()) {
      reply.content_type = "text/event-stream";
      reply.pieces = stream_pieces(request, said);
    } else {
      reply.pieces = {completion_json(request.talk(), said).dump()};
    }
  } catch (const Refusal& refusal) {
    reply.status = refusal.status;
    if (refusal.status == 429) {
      reply.headers = {"Retry-After: 1"};
    }
    reply.pieces = {json({{"error",
                           {{"message", refusal.what()},
                            {"type", refusal.type},
                            {"param", nullptr},
                            {"code", refusal.code.empty() ? json() : json(refusal.code)}}}})
                        .dump()};
  }
  return reply;
}

}  // namespace kernelpro::llm_server
