// Candidates that a client of ours writes: the run waits until they are submitted.
//
// A call that waits is what the client is asked. What it submits is kept with the calls of its node
// before anything is done with it, so that whoever takes up the run finds it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/llm.hpp"
#include "coordinator/llm/chat.hpp"
#include "coordinator/llm/role_llm.hpp"

namespace kernelpro {

// What a client wrote for one node.
struct Submission {
  std::string move;  // an id in snake_case, of a known move or a new one
  std::string plan;
  double predicted_gain = 1;  // factor over the parent
  std::string source;
  std::string author;  // "claude-code 2.1": as the client calls itself
};

// `asked`, the waiting call of a node, with what was submitted; and the calls that will follow it.
[[nodiscard]] std::vector<LlmCall> answered_calls(LlmCall asked, const Submission& submission);

// Whether the call waits for a client, and nothing was submitted yet.
[[nodiscard]] bool waits_for_client(const LlmCall& call);

// What such a call asks: the message to the writer, without its last paragraph, which says how
// models have to answer.
[[nodiscard]] Result<std::string> client_brief(const LlmCall& call);

class ClientChat : public Chat {
 public:
  // `kept`: the calls of the run so far.
  explicit ClientChat(const std::vector<LlmCall>& kept);

  [[nodiscard]] std::string provider() const override { return std::string(client_name); }
  [[nodiscard]] std::string body(const ChatRequest& request) const override;
  // Not yet, unless it was submitted. Nobody is asked twice: what cannot be used is a failure that
  // says why.
  [[nodiscard]] Tried try_once(const std::string& id, const ChatRequest& request,
                               const TextListener& listener, std::stop_token stop) override;

 private:
  std::map<std::string, ChatAnswer> submitted_;  // by the call's id
};

}  // namespace kernelpro
