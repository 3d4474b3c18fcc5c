#include "support/llm_server/api.hpp"
#include "support/llm_server/refusal.hpp"

namespace kernelpro::llm_server {
namespace {

using nlohmann::json;

constexpr int most_breakpoints = 4;

// Checks a request for as long as it goes through it, and gathers what it says.
class AnthropicRequest {
 public:
  explicit AnthropicRequest(const json& body) : body_(body) {
    require_keys(body, "body",
                 {"model", "max_tokens", "messages", "system", "tools", "tool_choice", "stream",
                  "temperature", "top_p", "top_k", "stop_sequences", "metadata"});
    talk_.model = require_text(body, "model", "body");
    require(body.contains("max_tokens"), "max_tokens: Field required");
    require_count(body["max_tokens"], "max_tokens");
    talk_.max_tokens = body["max_tokens"].get<std::int64_t>();
    require_range(body, "temperature", 1);
    read_stops();
    read_system();
    read_tools();
    read_messages();
    require(breakpoints_ <= most_breakpoints, "a maximum of 4 blocks with cache_control");
  }

  [[nodiscard]] const Talk& talk() const { return talk_; }
  [[nodiscard]] bool stream() const { return body_.value("stream", false); }
  // The texts before a mark of the cache, the whole prefix of each.
  [[nodiscard]] const std::vector<std::string>& cached() const { return cached_; }

 private:
  void read_stops() {
    for (const json& stop : body_.value("stop_sequences", json::array())) {
      require(stop.is_string() && !stop.get<std::string>().empty(),
              "stop_sequences: each should be a string with text in it");
      talk_.stop.push_back(stop);
    }
  }

  void read_system() {
    if (!body_.contains("system")) {
      return;
    }
    if (body_["system"].is_string()) {
      count(body_["system"]);
      return;
    }
    require(body_["system"].is_array(), "system: should be a string or a list");
    for (const json& block : body_["system"]) {
      require(require_text(block, "type", "system") == "text", "system: only text is allowed");
      read_text(block, "system");
    }
  }

  void read_tools() {
    for (const json& tool : body_.value("tools", json::array())) {
      require_keys(tool, "tools", {"name", "description", "input_schema", "cache_control", "type"});
      const std::string name = require_text(tool, "name", "tools");
      require(!name.empty() && name.size() <= 128, "tools.name: wrong length");
      require(tool.contains("input_schema") && tool["input_schema"].is_object() &&
                  tool["input_schema"].value("type", "") == "object",
              "tools.input_schema.type: should be \"object\"");
      talk_.tool = talk_.tool.empty() ? name : talk_.tool;
    }
  }

  void read_messages() {
    require(
        body_.contains("messages") && body_["messages"].is_array() && !body_["messages"].empty(),
        "messages: at least one message is required");
    for (const json& message : body_["messages"]) {
      require_keys(message, "messages", {"role", "content"});
      const std::string role = require_text(message, "role", "messages");
      require(role == "user" || role == "assistant",
              "messages: Unexpected role \"" + role + "\". Allowed roles are user or assistant");
      require(message.contains("content"), "messages.content: Field required");
      read_message(role, message["content"]);
    }
    require(waiting_.empty(), "tool_use ids were found without tool_result blocks after");
  }

  void read_message(const std::string& role, const json& content) {
    std::set<std::string> expected;
    if (role == "user") {
      expected = std::exchange(waiting_, {});
      talk_.has_result = false;
    } else {
      require(waiting_.empty(), "tool_use ids were found without tool_result blocks after");
    }
    if (content.is_string()) {
      require(!content.get<std::string>().empty(), "messages: text content must be non-empty");
      note(role, content);
      count(content);
    } else {
      require(content.is_array() && !content.empty(), "messages: content must be non-empty");
      for (const json& block : content) {
        read_block(role, block, expected);
      }
    }
    require(expected.empty(), "tool_use ids were found without tool_result blocks after");
  }

  void read_block(const std::string& role, const json& block, std::set<std::string>& expected) {
    const std::string type = require_text(block, "type", "messages.content");
    if (type == "text") {
      note(role, read_text(block, "messages.content"));
    } else if (type == "tool_use" && role == "assistant") {
      require_keys(block, "tool_use", {"type", "id", "name", "input", "cache_control"});
      require(block.contains("input") && block["input"].is_object(),
              "tool_use.input: should be an object");
      require(!require_text(block, "name", "tool_use").empty(), "tool_use.name: is empty");
      require(waiting_.insert(require_text(block, "id", "tool_use")).second,
              "tool_use ids must be unique");
    } else if (type == "tool_result" && role == "user") {
      read_result(block, expected);
    } else {
      require(false, "messages: a " + role + " cannot have a block of type " + type);
    }
    read_mark(block);
  }

  void read_result(const json& block, std::set<std::string>& expected) {
    require_keys(block, "tool_result",
                 {"type", "tool_use_id", "content", "is_error", "cache_control"});
    require(expected.erase(require_text(block, "tool_use_id", "tool_result")) == 1,
            "unexpected tool_use_id found in tool_result blocks. Each tool_result block must have "
            "a corresponding tool_use block in the previous message");
    talk_.has_result = true;
    const json& content = block.value("content", json(""));
    talk_.tool_result = content.is_string() ? content.get<std::string>() : content.dump();
    if (block.value("is_error", false)) {
      talk_.tool_result = "error, " + talk_.tool_result;
    }
    count(talk_.tool_result);
  }

  std::string read_text(const json& block, const std::string& where) {
    require_keys(block, where, {"type", "text", "cache_control"});
    const std::string text = require_text(block, "text", where);
    require(!text.empty(), where + ": text content blocks must be non-empty");
    count(text);
    if (where == "system") {
      read_mark(block);
    }
    return text;
  }

  void read_mark(const json& block) {
    if (block.contains("cache_control")) {
      require(block["cache_control"].is_object() &&
                  block["cache_control"].value("type", "") == "ephemeral",
              "cache_control.type: should be \"ephemeral\"");
      ++breakpoints_;
      cached_.push_back(so_far_);
    }
  }

  void note(const std::string& role, const std::string& text) {
    if (role == "user") {
      talk_.last_text = text;
      talk_.has_result = false;
    }
  }

  void count(const std::string& text) {
    so_far_ += text + " ";
    talk_.input_tokens += count_words(text);
  }

  const json& body_;
  Talk talk_;
  std::set<std::string> waiting_;  // calls without a result so far
  std::string so_far_;
  std::vector<std::string> cached_;
  int breakpoints_ = 0;
};

void refuse_anthropic_models(const std::string& model) {
  if (model == "no-such-model") {
    throw Refusal(404, "not_found_error", "model: " + model);
  }
  if (model == "limited-model") {
    throw Refusal(429, "rate_limit_error", "This request would exceed your rate limit.");
  }
  if (model == "overloaded-model") {
    throw Refusal(529, "overloaded_error", "Overloaded");
  }
  if (model == "failing-model") {
    throw Refusal(500, "api_error", "Internal server error");
  }
  if (model == "broke-model") {
    throw Refusal(400, "invalid_request_error",
                  "Your credit balance is too low to access the Anthropic API.");
  }
}

// What of the input was read from the cache and what was put into it.
json usage_json(const AnthropicRequest& request, PromptCache& cache, std::int64_t output) {
  std::int64_t read = 0;
  std::int64_t written = 0;
  for (const std::string& prefix : request.cached()) {
    const std::int64_t tokens = count_words(prefix);
    if (cache.touch(prefix)) {
      read = tokens;
    } else {
      written = tokens - read;
    }
  }
  return {{"input_tokens", request.talk().input_tokens - read - written},
          {"cache_creation_input_tokens", written},
          {"cache_read_input_tokens", read},
          {"output_tokens", output}};
}

std::string stop_reason(const Said& said) {
  if (said.refuses) {
    return "refusal";
  }
  if (said.cut) {
    return "max_tokens";
  }
  if (said.calls_tool) {
    return "tool_use";
  }
  return said.stopped_by.empty() ? "end_turn" : "stop_sequence";
}

json anthropic_call(const Talk& talk) {
  return {{"type", "tool_use"},
          {"id", "toolu_01"},
          {"name", talk.tool},
          {"input", {{"text", talk.last_text}}}};
}

json message_json(const Talk& talk, const Said& said, json usage) {
  json content = json::array();
  if (!said.text.empty()) {
    content.push_back({{"type", "text"}, {"text", said.text}});
  }
  if (said.has_call()) {
    content.push_back(anthropic_call(talk));
  }
  return {{"id", "msg_01"},
          {"type", "message"},
          {"role", "assistant"},
          {"model", talk.model},
          {"content", content},
          {"stop_reason", stop_reason(said)},
          {"stop_sequence", said.stopped_by.empty() ? json() : json(said.stopped_by)},
          {"usage", std::move(usage)}};
}

std::string event(const json& data) {
  return "event: " + data["type"].get<std::string>() + "\ndata: " + data.dump() + "\n\n";
}

void stream_block(std::vector<std::string>& pieces, int index, const json& block,
                  const std::vector<json>& deltas) {
  pieces.push_back(
      event({{"type", "content_block_start"}, {"index", index}, {"content_block", block}}));
  for (const json& delta : deltas) {
    pieces.push_back(event({{"type", "content_block_delta"}, {"index", index}, {"delta", delta}}));
  }
  pieces.push_back(event({{"type", "content_block_stop"}, {"index", index}}));
}

std::vector<std::string> stream_pieces(const Talk& talk, const Said& said, const json& usage) {
  json start = message_json(talk, said, usage);
  start["content"] = json::array();
  start["stop_reason"] = nullptr;
  start["stop_sequence"] = nullptr;
  start["usage"]["output_tokens"] = 1;
  std::vector<std::string> pieces = {event({{"type", "message_start"}, {"message", start}}),
                                     event({{"type", "ping"}})};
  int index = 0;
  if (!said.text.empty()) {
    std::vector<json> deltas;
    for (const std::string& word : words(said.text)) {
      deltas.push_back({{"type", "text_delta"}, {"text", word}});
    }
    stream_block(pieces, index++, {{"type", "text"}, {"text", ""}}, deltas);
  }
  if (said.has_call()) {
    json block = anthropic_call(talk);
    const std::string input = block["input"].dump();
    block["input"] = json::object();
    const std::size_t half = input.size() / 2;
    stream_block(pieces, index, block,
                 {{{"type", "input_json_delta"}, {"partial_json", ""}},
                  {{"type", "input_json_delta"}, {"partial_json", input.substr(0, half)}},
                  {{"type", "input_json_delta"}, {"partial_json", input.substr(half)}}});
  }
  pieces.push_back(
      event({{"type", "message_delta"},
             {"delta",
              {{"stop_reason", stop_reason(said)},
               {"stop_sequence", said.stopped_by.empty() ? json() : json(said.stopped_by)}}},
             {"usage", {{"output_tokens", usage["output_tokens"]}}}}));
  pieces.push_back(event({{"type", "message_stop"}}));
  return pieces;
}

void check_anthropic_head(const Seen& seen, const std::string& key) {
  const auto header = [&seen](const char* name) {
    const auto found = seen.headers.find(name);
    return found == seen.headers.end() ? std::string() : found->second;
  };
  if (header("x-api-key") != key) {
    throw Refusal(401, "authentication_error", "invalid x-api-key");
  }
  require(header("anthropic-version") == "2023-06-01", "anthropic-version: header is required");
  require(header("content-type").starts_with("application/json"),
          "content-type: should be application/json");
  if (seen.method != "POST") {
    throw Refusal(405, "invalid_request_error", "Method Not Allowed");
  }
}

}  // namespace

Reply anthropic_reply(const Seen& seen, const std::string& key, PromptCache& cache) {
  Reply reply;
  try {
    check_anthropic_head(seen, key);
    const json body = json::parse(seen.body, nullptr, false);
    require(!body.is_discarded(), "The request body is not valid JSON");
    const AnthropicRequest request(body);
    refuse_anthropic_models(request.talk().model);
    const Said said = say(request.talk());
    const json usage = usage_json(request, cache, said.tokens);
    if (request.stream()) {
      reply.content_type = "text/event-stream; charset=utf-8";
      reply.pieces = stream_pieces(request.talk(), said, usage);
    } else {
      reply.pieces = {message_json(request.talk(), said, usage).dump()};
    }
  } catch (const Refusal& refusal) {
    reply.status = refusal.status;
    if (refusal.status == 429) {
      reply.headers = {"Retry-After: 1"};
    }
    reply.pieces = {json({{"type", "error"},
                          {"error", {{"type", refusal.type}, {"message", refusal.what()}}},
                          {"request_id", "req_01"}})
                        .dump()};
  }
  return reply;
}

}  // namespace kernelpro::llm_server
