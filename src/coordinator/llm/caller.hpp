// Calls of models for a run: within its budget, each kept, none made twice.
#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/llm.hpp"
#include "coordinator/llm/chat.hpp"

namespace kernelpro {

// Keeps the calls of one run; when a call returns, it is safe. Used by several threads at once.
class CallJournal {
 public:
  CallJournal() = default;
  CallJournal(const CallJournal&) = delete;
  CallJournal& operator=(const CallJournal&) = delete;
  virtual ~CallJournal() = default;

  [[nodiscard]] virtual Result<std::vector<LlmCall>> all() = 0;
  // Added, or written over where one of that id is there.
  [[nodiscard]] virtual Status keep(const LlmCall& call) = 0;
};

// Who asks, and for the how manieth time within this node: the same again when a run is taken up.
struct CallName {
  NodeId node = root_node;
  LlmRole role = LlmRole::coder;
  int turn = 1;

  [[nodiscard]] std::string id() const;  // "7.coder.1"
};

struct Called {
  enum class Kind {
    answered,
    not_yet,  // the answer comes later: the run waits
    spent,    // the budget does not allow the call; `reason` says which budget and what is left
    failed,   // this call failed for good, others may not: `reason`
  };
  Kind kind = Kind::answered;
  ChatAnswer answer;
  std::string reason;
};

// Safe to be asked by several threads at once.
class Caller {
 public:
  virtual ~Caller() = default;

  // A call that was answered before is not made again: the kept answer comes back. An error ends
  // the run for now: wrong key, unknown model, no quota, nobody there, disk full.
  [[nodiscard]] virtual Result<Called> call(const CallName& name, ChatRequest request,
                                            std::stop_token stop) = 0;
  // Tokens that may still be reserved; none: no budget.
  [[nodiscard]] virtual std::optional<std::int64_t> tokens_left() const = 0;
};

}  // namespace kernelpro
