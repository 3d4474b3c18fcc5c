#include "coordinator/propose/agents/talk.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "coordinator/propose/agents/code_tools.hpp"
#include "coordinator/propose/agents/profile_tool.hpp"
#include "coordinator/propose/agents/text.hpp"

namespace kernelpro::agents {

namespace {

// Of an answer that was cut, what is sent back; and of one that is longer than any that was asked
// for.
constexpr std::size_t longest_cut_answer = 4000;
constexpr std::size_t longest_answer = 200'000;

Proposed ended(Proposed::Kind kind, std::string reason) {
  Proposed out;
  out.kind = kind;
  out.reason = std::move(reason);
  return out;
}

}  // namespace

void Talk::note(const std::string& what) {
  setting_.mishaps.push_back(fmt::format("{}: {}", name_of(role_), what));
}

void Talk::say(const std::string& text) {
  ChatMessage message;
  message.text = text;
  request_.messages.push_back(std::move(message));
}

// Providers refuse messages without a text.
void Talk::remember(const ChatAnswer& answer) {
  ChatMessage message;
  message.speaker = Speaker::assistant;
  const bool cut = answer.stop == StopReason::length || answer.text.size() > longest_answer;
  message.text = cut ? shortened(answer.text, longest_cut_answer) : answer.text;
  if (trimmed(message.text).empty()) {
    message.text = "(no text)";
  }
  request_.messages.push_back(std::move(message));
}

ChatMessage Talk::answer_call(const ToolCall& call) {
  std::vector<std::string> names;
  names.reserve(request_.tools.size());
  for (const ToolSpec& tool : request_.tools) {
    names.push_back(tool.name);
  }
  if (std::find(names.begin(), names.end(), call.name) != names.end()) {
    return is_code_tool(call.name) ? answer_code_call(*setting_.code, call, setting_.learned)
                                   : answer_profile_call(setting_.order, call);
  }
  ChatMessage message;
  message.speaker = Speaker::tool;
  message.answers = call.id;
  message.failed = true;
  message.text =
      fmt::format("There is no tool \"{}\"; there is {}.", call.name, fmt::join(names, ", "));
  return message;
}

void Talk::use_tools(const ChatAnswer& answer, bool allowed) {
  ChatMessage wanted;
  wanted.speaker = Speaker::assistant;
  wanted.text = answer.text;
  wanted.calls = answer.calls;
  request_.messages.push_back(std::move(wanted));
  for (const ToolCall& call : answer.calls) {
    ChatMessage message;
    if (allowed) {
      message = answer_call(call);
    } else {
      message.speaker = Speaker::tool;
      message.answers = call.id;
      message.failed = true;
      message.text = request_.tools.empty() ? "There are no tools here: answer as asked."
                                            : "No further looks are left: answer now.";
    }
    if (message.failed) {
      note("tool call refused: " + message.text);
    }
    request_.messages.push_back(std::move(message));
  }
}

Step<ChatAnswer> Talk::ask() {
  for (;;) {
    const CallName name{setting_.order.node, role_, ++turn_};
    KP_LET(Called called, setting_.caller.call(name, request_, setting_.stop));
    switch (called.kind) {
      case Called::Kind::not_yet:
        return std::variant<ChatAnswer, Proposed>(ended(Proposed::Kind::not_yet, called.reason));
      case Called::Kind::spent:
        return std::variant<ChatAnswer, Proposed>(ended(Proposed::Kind::spent, called.reason));
      case Called::Kind::failed:
        note("call failed: " + called.reason);
        return std::variant<ChatAnswer, Proposed>(
            ended(Proposed::Kind::nothing,
                  fmt::format("the call of the {} failed: {}", name_of(role_), called.reason)));
      case Called::Kind::answered:
        break;
    }
    if (called.answer.calls.empty()) {
      return std::variant<ChatAnswer, Proposed>(std::move(called.answer));
    }
    if (++tool_turns_ > most_tool_turns + 1) {
      note("calls tools without end");
      return std::variant<ChatAnswer, Proposed>(ended(
          Proposed::Kind::nothing, fmt::format("the {} calls tools without end", name_of(role_))));
    }
    use_tools(called.answer, !request_.tools.empty() && tool_turns_ <= most_tool_turns);
  }
}

Proposed Talk::given_up(const std::string& first, const std::string& second) const {
  return ended(Proposed::Kind::nothing,
               fmt::format("the {}'s answers could not be used: {}, then {}", name_of(role_), first,
                           second));
}

}  // namespace kernelpro::agents
