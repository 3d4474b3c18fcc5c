// One interface for every language model: messages in, an answer out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/llm.hpp"

namespace kernelpro {

enum class Speaker { user, assistant, tool };

// A tool that the model wants called.
struct ToolCall {
  std::string id;
  std::string name;
  std::string arguments;  // JSON, as the model wrote it: it may be nonsense

  friend bool operator==(const ToolCall&, const ToolCall&) = default;
};

struct ChatMessage {
  Speaker speaker = Speaker::user;
  std::string text;
  std::vector<ToolCall> calls;  // of the assistant
  std::string answers;          // of a tool: the call's id
  bool failed = false;          // of a tool: the text says why it could not be done

  friend bool operator==(const ChatMessage&, const ChatMessage&) = default;
};

// A tool that the model may call.
struct ToolSpec {
  std::string name;
  std::string description;
  std::string schema;  // of its arguments, JSON
};

struct ChatRequest {
  std::string model;
  std::string system;  // the same in many calls: cached where the provider can
  std::vector<ChatMessage> messages;
  std::vector<ToolSpec> tools;
  std::optional<double> temperature;  // none: the provider's
  std::int64_t max_output = 16384;
  std::vector<std::string> stop;  // texts at which the answer ends
};

enum class StopReason {
  done,
  length,      // cut at max_output
  tool_calls,  // it waits for tools
  stop_text,   // one of `stop` came
  refusal,     // the model or a filter of its provider refused
  other,
};

[[nodiscard]] std::string_view name_of(StopReason reason);

struct ChatAnswer {
  std::string text;
  std::vector<ToolCall> calls;
  StopReason stop = StopReason::done;
  Usage usage;
  bool usage_known = false;  // false: the provider did not say
  std::string model;         // that answered, as it says
};

// Told of each piece of text as it arrives; from the thread that asked.
using TextListener = std::function<void(const std::string&)>;

// One try of one call. What failed may have cost tokens.
struct ChatReply {
  std::optional<ChatAnswer> answer;  // none: not yet, the run has to wait
};

// Why a try failed, and whether another may succeed.
struct ChatFailure {
  Error error;
  bool retriable = false;
  // No other call can succeed either until somebody does something: wrong key, unknown model, no
  // quota, nobody there. False: only this request was refused.
  bool for_all = false;
  // Whether the provider may have begun to work, so that tokens may be charged: a stream that was
  // cut, a time-out. False for a refused connection, 401, 429 and the like.
  bool may_cost = false;
  // Whoever answers there is in trouble itself, this request is not to blame: when the run is taken
  // up, the call may succeed.
  bool away = false;
  std::optional<double> retry_after_seconds;  // as the provider says
};

// A model behind some provider. Safe to be asked by several threads at once.
class Chat {
 public:
  Chat() = default;
  Chat(const Chat&) = delete;
  Chat& operator=(const Chat&) = delete;
  virtual ~Chat() = default;

  // "anthropic", "openai", "batch", "replay".
  [[nodiscard]] virtual std::string provider() const = 0;

  // The request as it would be sent: the body, without any key. The same request gives the same
  // bytes.
  [[nodiscard]] virtual std::string body(const ChatRequest& request) const = 0;

  // One try, no retries. `id` names the call within its run. Exactly one of the two comes back: a
  // reply, or a failure.
  struct Tried {
    ChatReply reply;
    std::optional<ChatFailure> failure;
  };
  [[nodiscard]] virtual Tried try_once(const std::string& id, const ChatRequest& request,
                                       const TextListener& listener, std::stop_token stop) = 0;

  // What batch has been told to hand out is written when the run stops to wait.
  [[nodiscard]] virtual Status hand_out() { return {}; }

  // What the user should know before the run stops to wait, a line each.
  [[nodiscard]] virtual std::vector<std::string> remarks() { return {}; }

  // How many requests were answered from a recording of other ones.
  [[nodiscard]] virtual std::int64_t differing() const { return 0; }
};

}  // namespace kernelpro
