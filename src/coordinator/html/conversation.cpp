#include "coordinator/html/conversation.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "coordinator/html/page.hpp"
#include "coordinator/report/llm_summary.hpp"
#include "coordinator/report/table.hpp"

namespace kernelpro::html {

namespace {

using nlohmann::json;

std::string dumped(const json& value) {
  return value.dump(2, ' ', false, json::error_handler_t::replace);
}

std::string text_in(const json& holder, const char* key) {
  const auto found = holder.find(key);
  return found != holder.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// A string, or a list of parts of which some are text.
std::string content_text(const json& content) {
  if (content.is_null()) {
    return "";
  }
  if (content.is_string()) {
    return content.get<std::string>();
  }
  if (!content.is_array()) {
    return dumped(content);
  }
  std::string out;
  for (const json& part : content) {
    const bool is_text = part.is_object() && part.contains("text") && part["text"].is_string();
    out += (out.empty() ? "" : "\n") + (is_text ? part["text"].get<std::string>() : dumped(part));
  }
  return out;
}

Utterance utterance_of(const json& message) {
  if (!message.is_object()) {
    return {"unknown", dumped(message)};
  }
  const json content = message.value("content", json());
  Utterance out = {text_in(message, "role"), content_text(content)};
  if (const auto calls = message.find("tool_calls"); calls != message.end()) {
    out.text += (out.text.empty() ? "" : "\n") + dumped(*calls);
  }
  return out;
}

std::string cost_words(const LlmCall& call) {
  return call.priced ? ", " + money_text(call.cost) : ", price not known";
}

std::string call_line(const LlmCall& call) {
  std::string out = fmt::format("{} · node {} · {}", call.id, call.node, name_of(call.state));
  if (!call.answered_by.empty()) {
    out += " by " + call.answered_by;
  }
  if (call.state != CallState::waiting) {
    out += fmt::format(" · {} tokens in, {} out{}", call.usage.input, call.usage.output,
                       cost_words(call));
  }
  return out +
         (call.latency_ns > 0 ? " · " + duration_text(static_cast<double>(call.latency_ns)) : "");
}

Markup words(const std::string& text) {
  return classed("pre", "words", text);
}

class Conversation {
 public:
  Markup call_view(const LlmCall& call) {
    Markup content;
    for (const Utterance& said : utterances_of(call.request)) {
      content += utterance_view(call.id, said);
    }
    if (!call.answer.empty()) {
      content +=
          element("p", {}, element("strong", {}, "answer")) + words(answer_text(call.answer));
    }
    if (!call.failure.empty()) {
      content += paragraph("failed: " + call.failure);
    }
    return folded(call_line(call), content);
  }

 private:
  Markup utterance_view(const std::string& call, const Utterance& said) {
    const auto [first, fresh] = said_in_.emplace(said.text, call);
    if (!fresh && first->second != call) {
      return note(fmt::format("{}: the same words as in call {}", said.speaker, first->second));
    }
    return folded(said.speaker, words(said.text));
  }

  std::map<std::string, std::string> said_in_;
};

}  // namespace

std::vector<Utterance> utterances_of(const std::string& request) {
  const json parsed = json::parse(request, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("messages") || !parsed["messages"].is_array()) {
    return request.empty() ? std::vector<Utterance>()
                           : std::vector<Utterance>{{"request", request}};
  }
  std::vector<Utterance> out;
  if (parsed.contains("system")) {
    out.push_back({"system", content_text(parsed["system"])});
  }
  for (const json& message : parsed["messages"]) {
    out.push_back(utterance_of(message));
  }
  return out;
}

std::string answer_text(const std::string& answer) {
  const json parsed = json::parse(answer, nullptr, false);
  if (!parsed.is_object()) {
    return answer;
  }
  std::string out = text_in(parsed, "text");
  if (const auto calls = parsed.find("calls"); calls != parsed.end() && !calls->empty()) {
    out += (out.empty() ? "" : "\n") + dumped(*calls);
  }
  return out.empty() ? answer : out;
}

Markup conversation_view(const std::vector<LlmCall>& calls) {
  Conversation conversation;
  Markup out;
  for (const LlmCall& call : calls) {
    out += conversation.call_view(call);
  }
  return out;
}

}  // namespace kernelpro::html
