#include "coordinator/llm/openai.hpp"

#include <cctype>
#include <map>
#include <nlohmann/json.hpp>

#include "common/base/text.hpp"
#include "common/wire/json.hpp"
#include "coordinator/llm/failure.hpp"
#include "coordinator/llm/json_parts.hpp"
#include "coordinator/llm/openai_form.hpp"

namespace kernelpro {
namespace {

using nlohmann::json;

constexpr std::string_view endpoint = "/chat/completions";

// Whether some part of the path is "v" and a digit.
bool has_version(const std::string& path) {
  for (std::size_t slash = path.find("/v"); slash != std::string::npos;
       slash = path.find("/v", slash + 1)) {
    if (slash + 2 < path.size() && std::isdigit(static_cast<unsigned char>(path[slash + 2])) != 0) {
      return true;
    }
  }
  return false;
}

std::string endpoint_of(const BaseUrl& base) {
  if (base.text.ends_with(endpoint)) {
    return base.text;
  }
  return base.text + (has_version(base.path) ? "" : "/v1") + std::string(endpoint);
}

// OpenAI's own models, there or at Azure.
bool has_new_models(std::string_view host) {
  return host == "api.openai.com" || host.ends_with(".openai.azure.com") ||
         host.ends_with(".services.ai.azure.com") || host.ends_with(".cognitiveservices.azure.com");
}

class OpenAiStream : public StreamReader {
 public:
  OpenAiStream(Asked asked, TextListener listener)
      : asked_(std::move(asked)), listener_(std::move(listener)) {}

  std::optional<ChatFailure> take(const SseEvent& event) override {
    if (trimmed(event.data) == "[DONE]") {
      ended_ = true;
      return std::nullopt;
    }
    const Result<json> parsed = parse_json(event.data);
    if (!parsed) {
      return not_json_failure(asked_, "an event of the stream: ", event.data);
    }
    if (const json& error = part(*parsed, "error"); !error.is_null()) {
      return reported_failure(asked_, error);
    }
    if (const std::string model = text_part(*parsed, "model"); !model.empty()) {
      answer_.model = model;
    }
    // Some servers count in every event: the last counts.
    if (const std::optional<Usage> usage = openai_usage(part(*parsed, "usage"))) {
      answer_.usage = *usage;
      answer_.usage_known = true;
    }
    const json& choices = part(*parsed, "choices");
    if (choices.is_array() && !choices.empty()) {
      take_choice(choices[0]);
    }
    return std::nullopt;
  }

  bool begun() const override {
    return !answer_.text.empty() || !refusal_.empty() || !calls_.empty();
  }
  bool ended() const override { return ended_; }

  std::optional<ChatAnswer> answer() const override {
    if (finish_.empty() && !(ended_ && started_)) {
      return std::nullopt;
    }
    ChatAnswer answer = answer_;
    for (const ToolCall& call : calls_) {
      answer.calls.push_back(call);
      if (call.arguments.empty()) {
        answer.calls.back().arguments = "{}";
      }
    }
    answer.stop = openai_stop_reason(finish_, !answer.calls.empty());
    if (!refusal_.empty()) {
      answer.stop = StopReason::refusal;
      answer.text = answer.text.empty() ? refusal_ : answer.text;
    }
    return answer;
  }

 private:
  void take_choice(const json& choice) {
    started_ = true;
    const json& delta = part(choice, "delta");
    const std::string text = content_text(part(delta, "content"));
    if (!text.empty()) {
      answer_.text += text;
      listener_(text);
    }
    refusal_ += text_part(delta, "refusal");
    const json& calls = part(delta, "tool_calls");
    if (calls.is_array()) {
      for (const json& call : calls) {
        take_call(call);
      }
    }
    if (const std::string finish = text_part(choice, "finish_reason"); !finish.empty()) {
      finish_ = finish;
    }
  }

  // The call that a piece belongs to; made where the piece begins one.
  [[nodiscard]] ToolCall& call_of(const json& delta, const std::string& id, bool named) {
    const json& index = part(delta, "index");
    const bool indexed = index.is_number_integer();
    const std::int64_t key = indexed ? index.get<std::int64_t>() : -1;
    const auto slot = slots_.find(key);
    if (slot == slots_.end() || begins_another(calls_[slot->second], indexed, id, named)) {
      slots_[key] = calls_.size();
      return calls_.emplace_back();
    }
    return calls_[slot->second];
  }

  // Some servers give no index, others 0 to every call, others another id to every piece.
  static bool begins_another(const ToolCall& last, bool indexed, const std::string& id,
                             bool named) {
    const bool other_id = !id.empty() && !last.id.empty() && id != last.id;
    if (indexed) {
      return other_id && named;
    }
    return other_id || (named && id.empty() && last.id.empty());
  }

  // Id and name come with the first piece.
  void take_call(const json& delta) {
    const std::string id = text_part(delta, "id");
    const json& function = part(delta, "function");
    const std::string name = text_part(function, "name");
    ToolCall& call = call_of(delta, id, !name.empty());
    call.id = call.id.empty() ? id : call.id;
    call.name = name.empty() ? call.name : name;
    call.arguments += arguments_text(function);
  }

  Asked asked_;
  TextListener listener_;
  ChatAnswer answer_;
  std::string refusal_;
  std::vector<ToolCall> calls_;
  std::map<std::int64_t, std::size_t> slots_;  // which of them an index means now; -1: none given
  std::string finish_;
  bool started_ = false;
  bool ended_ = false;
};

class OpenAi : public Dialect {
 public:
  explicit OpenAi(const BaseUrl& base)
      : url_(endpoint_of(base)),
        limit_name_(has_new_models(base.host) ? new_limit_name : old_limit_name) {}

  std::string url() const override { return url_; }

  std::string body(const ChatRequest& request) const override {
    return openai_body(request, true, limit_name_).dump();
  }

  std::vector<std::string> headers(const std::string& key) const override {
    if (key.empty()) {
      return {};
    }
    return {"Authorization: Bearer " + key};
  }

  std::unique_ptr<StreamReader> read_stream(Asked asked,
                                            const TextListener& listener) const override {
    return std::make_unique<OpenAiStream>(std::move(asked), listener);
  }

  Result<ChatAnswer> read_whole(const json& body) const override {
    return answer_from_completion(body);
  }

 private:
  std::string url_;
  std::string_view limit_name_;
};

}  // namespace

std::unique_ptr<Dialect> openai_dialect(const BaseUrl& base) {
  return std::make_unique<OpenAi>(base);
}

}  // namespace kernelpro
