#include "coordinator/llm/client_chat.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/wire/json.hpp"
#include "coordinator/llm/caller.hpp"
#include "coordinator/llm/chat_json.hpp"
#include "coordinator/llm/openai_form.hpp"

namespace kernelpro {
namespace {

using nlohmann::json;

std::string said(const json& text, const std::string& author) {
  ChatAnswer answer;
  answer.text = text.is_string() ? text.get<std::string>() : text.dump();
  answer.model = author;
  return to_json(answer).dump();
}

// A fence that is longer than any in the source.
std::string fenced(const std::string& source) {
  std::string fence = "```";
  while (source.find(fence) != std::string::npos) {
    fence += '`';
  }
  return fence + "\n" + source + (source.ends_with('\n') ? "" : "\n") + fence;
}

}  // namespace

std::vector<LlmCall> answered_calls(LlmCall asked, const Submission& submission) {
  const std::string source = said(fenced(submission.source), submission.author);
  if (asked.role != LlmRole::planner) {
    asked.answer = source;
    return {std::move(asked)};
  }
  asked.answer = said({{"move", submission.move},
                       {"plan", submission.plan},
                       {"predicted_gain", submission.predicted_gain},
                       {"why", "as " + submission.author + " says"}},
                      submission.author);
  LlmCall coder;
  coder.node = asked.node;
  coder.role = LlmRole::coder;
  coder.id = CallName{coder.node, coder.role, coder.turn}.id();
  coder.answer = source;
  return {std::move(asked), std::move(coder)};
}

bool waits_for_client(const LlmCall& call) {
  return call.state == CallState::waiting && call.provider == client_name && call.answer.empty();
}

Result<std::string> client_brief(const LlmCall& call) {
  KP_LET(const json body, parse_json(call.request));
  const json messages = body.is_object() ? body.value("messages", json()) : json();
  if (!messages.is_array() || messages.empty() || !messages.back().contains("content") ||
      !messages.back()["content"].is_string()) {
    return make_error(ErrorKind::io, "the kept request cannot be read", "call " + call.id);
  }
  const std::string text = messages.back()["content"];
  return text.substr(0, text.rfind("\n\n"));
}

ClientChat::ClientChat(const std::vector<LlmCall>& kept) {
  for (const LlmCall& call : kept) {
    const Result<json> parsed = call.state == CallState::waiting && !call.answer.empty()
                                    ? parse_json(call.answer)
                                    : Result<json>(Error());
    if (Result<ChatAnswer> answer = parsed ? chat_answer_from_json(*parsed) : parsed.error();
        answer) {
      submitted_.emplace(call.id, std::move(*answer));
    }
  }
}

std::string ClientChat::body(const ChatRequest& request) const {
  return openai_body(request, false, new_limit_name).dump();
}

Chat::Tried ClientChat::try_once(const std::string& id, const ChatRequest& request,
                                 const TextListener& /*listener*/, std::stop_token /*stop*/) {
  if (const auto found = submitted_.find(id); found != submitted_.end()) {
    return {.reply = {.answer = found->second}, .failure = {}};
  }
  if (request.messages.size() <= 1) {
    return {};
  }
  ChatFailure failure;
  failure.error = make_error(ErrorKind::bad_input, request.messages.back().text);
  return {.reply = {}, .failure = std::move(failure)};
}

}  // namespace kernelpro
