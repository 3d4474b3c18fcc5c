// What was said between a run and its language models, and what that cost.
#pragma once

#include <string>
#include <vector>

#include "common/model/llm.hpp"
#include "coordinator/html/markup.hpp"

namespace kernelpro::html {

// Somebody's words in a call.
struct Utterance {
  std::string speaker;  // "system", "user", "assistant", "tool"
  std::string text;
};

// The request of any provider, as messages. What is in no form that is known is given as it is.
[[nodiscard]] std::vector<Utterance> utterances_of(const std::string& request);

// The text of an answer with the tools it calls; as it is where it cannot be read.
[[nodiscard]] std::string answer_text(const std::string& answer);

// All calls, folded, in their order. Words that an earlier call had too are not repeated.
[[nodiscard]] Markup conversation_view(const std::vector<LlmCall>& calls);

}  // namespace kernelpro::html
