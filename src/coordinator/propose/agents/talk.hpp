// One role's conversation about one node: asked, looked up for, asked again where an answer cannot
// be used.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/llm/caller.hpp"
#include "coordinator/propose/agents/agents.hpp"
#include "coordinator/propose/agents/answers.hpp"
#include "coordinator/propose/agents/code_library.hpp"
#include "coordinator/propose/agents/order.hpp"

namespace kernelpro::agents {

// Whom a conversation is with, and about what. All must outlive it.
struct Setting {
  const AgentOrder& order;
  Caller& caller;
  std::stop_token stop;
  std::vector<std::string>& mishaps;  // added to
  const CodeLibrary* code;            // nullptr: there is none
  std::vector<std::string>& learned;  // places in code that were shown, added to
};

// A value, or why there is none: not yet, spent, nothing with its reason.
template <typename T>
using Step = Result<std::variant<T, Proposed>>;

class Talk {
 public:
  Talk(Setting setting, LlmRole role, ChatRequest first)
      : setting_(std::move(setting)), role_(role), request_(std::move(first)) {}

  // Asks, and once more with the complaint where the answer cannot be used.
  template <typename T>
  [[nodiscard]] Step<T> obtain(const std::function<Read<T>(const ChatAnswer&)>& read) {
    std::string first;
    for (int attempt = 1;; ++attempt) {
      KP_LET(auto asked, ask());
      if (const auto* ended = std::get_if<Proposed>(&asked)) {
        return std::variant<T, Proposed>(*ended);
      }
      const ChatAnswer& answer = std::get<ChatAnswer>(asked);
      Read<T> got = read(answer);
      remember(answer);
      if (T* value = std::get_if<T>(&got)) {
        return std::variant<T, Proposed>(std::move(*value));
      }
      const Mishap& mishap = std::get<Mishap>(got);
      const std::string kind(name_of(mishap.kind));
      note(kind);
      if (attempt == 2) {
        return std::variant<T, Proposed>(given_up(first, kind));
      }
      first = kind;
      say(mishap.complaint);
    }
  }

  // Goes on with a user's message.
  void say(const std::string& text);

 private:
  // One answer; tools that it wants are called before.
  [[nodiscard]] Step<ChatAnswer> ask();
  [[nodiscard]] ChatMessage answer_call(const ToolCall& call);
  void use_tools(const ChatAnswer& answer, bool allowed);
  void remember(const ChatAnswer& answer);
  void note(const std::string& what);
  [[nodiscard]] Proposed given_up(const std::string& first, const std::string& second) const;

  Setting setting_;
  LlmRole role_;
  ChatRequest request_;
  int turn_ = 0;
  int tool_turns_ = 0;
};

}  // namespace kernelpro::agents
