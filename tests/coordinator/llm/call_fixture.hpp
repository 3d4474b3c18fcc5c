// A journal in memory and models that answer as they are told, for tests of whatever calls them.
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/llm/budgeted_caller.hpp"
#include "coordinator/llm/openai_form.hpp"

namespace kernelpro::testing {

inline const Price price{.input = 3000, .cached = 300, .cache_written = 3750, .output = 15'000};
inline const CallName coder{.node = 7, .role = LlmRole::coder, .turn = 1};

// Outlives the callers that use it, as a store does the processes.
class MemoryJournal : public CallJournal {
 public:
  [[nodiscard]] Result<std::vector<LlmCall>> all() override {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

  [[nodiscard]] Status keep(const LlmCall& call) override {
    const std::lock_guard lock(mutex_);
    if (keeps_left_ && (*keeps_left_)-- <= 0) {
      return make_error(ErrorKind::io, "No space left on device");
    }
    for (LlmCall& kept : calls_) {
      if (kept.id == call.id) {
        kept = call;
        return {};
      }
    }
    calls_.push_back(call);
    return {};
  }

  // After so many the disk is full; none: never.
  void allow(std::optional<int> keeps) {
    const std::lock_guard lock(mutex_);
    keeps_left_ = keeps;
  }

  [[nodiscard]] LlmCall call(const std::string& id) {
    const std::lock_guard lock(mutex_);
    for (const LlmCall& kept : calls_) {
      if (kept.id == id) {
        return kept;
      }
    }
    return {};
  }

 private:
  std::mutex mutex_;
  std::vector<LlmCall> calls_;
  std::optional<int> keeps_left_;
};

inline Chat::Tried answered(ChatAnswer answer) {
  return {.reply = {.answer = std::move(answer)}, .failure = {}};
}

inline ChatAnswer answer_of(const std::string& text, Usage usage, bool known = true) {
  ChatAnswer answer;
  answer.text = text;
  answer.usage = usage;
  answer.usage_known = known;
  answer.model = "model-2026";
  return answer;
}

struct Trouble {
  bool retriable = false;
  bool for_all = false;
  bool may_cost = false;
  bool away = false;
};

inline Chat::Tried trouble(const Trouble& kind, const std::string& message,
                           ErrorKind error = ErrorKind::lost) {
  ChatFailure failure;
  failure.error = make_error(error, message);
  failure.retriable = kind.retriable;
  failure.for_all = kind.for_all;
  failure.may_cost = kind.may_cost;
  failure.away = kind.away;
  return {.reply = {}, .failure = std::move(failure)};
}

// Does what `script` says; counts how often it was asked.
class ScriptedChat : public Chat {
 public:
  using Script = std::function<Tried(const std::string& id, const ChatRequest& request, int tries,
                                     const std::stop_token& stop)>;
  explicit ScriptedChat(Script script, std::string provider = "openai")
      : script_(std::move(script)), provider_(std::move(provider)) {}

  [[nodiscard]] std::string provider() const override { return provider_; }
  [[nodiscard]] std::string body(const ChatRequest& request) const override {
    return openai_body(request, false).dump();
  }
  [[nodiscard]] Tried try_once(const std::string& id, const ChatRequest& request,
                               const TextListener&, std::stop_token stop) override {
    int tries = 0;
    {
      const std::lock_guard lock(mutex_);
      tries = ++asked_[id];
    }
    return script_(id, request, tries, stop);
  }
  [[nodiscard]] Status hand_out() override {
    ++handed_out;
    return {};
  }

  [[nodiscard]] int asked(const std::string& id) {
    const std::lock_guard lock(mutex_);
    return asked_[id];
  }

  int handed_out = 0;

 private:
  Script script_;
  std::string provider_;
  std::mutex mutex_;
  std::map<std::string, int> asked_;
};

inline ChatRequest request_of(const std::string& text, std::int64_t max_output = 100) {
  ChatRequest request;
  request.system = "You write kernels.";
  request.messages = {{.speaker = Speaker::user, .text = text, .calls = {}, .answers = {}}};
  request.max_output = max_output;
  return request;
}

// Retries at once, up to six tries.
inline CallerOptions hasty() {
  CallerOptions options;
  options.retry_wait = [](int tries, const ChatFailure& failure) -> std::optional<double> {
    return failure.retriable && tries < 6 ? std::optional(0.0) : std::nullopt;
  };
  return options;
}

// All roles ask `chat`.
inline std::map<LlmRole, RoleChat> all_roles(const std::shared_ptr<Chat>& chat,
                                             const std::string& model = "m") {
  std::map<LlmRole, RoleChat> roles;
  for (const LlmRole role : llm_roles()) {
    roles[role] = {chat, model};
  }
  return roles;
}

template <typename T>
std::string error_text(const Result<T>& result) {
  return result.ok() ? "no error" : result.error().text();
}

}  // namespace kernelpro::testing
