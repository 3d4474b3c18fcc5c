// What a call may cost at worst, before it is made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/model/llm.hpp"
#include "coordinator/llm/chat.hpp"

namespace kernelpro {

// That of the model, else the one for any other ("").
[[nodiscard]] std::optional<Price> find_price(const LlmSettings& settings,
                                              const std::string& model);

struct PromptCost {
  Usage worst;                   // the bound of its input, and max_output
  std::int64_t about_input = 0;  // an estimate of its input, in tokens
  std::optional<Price> price;    // none: not known
  std::int64_t cost = 0;         // of `worst`, in billionths of a dollar; 0 without a price
};

[[nodiscard]] PromptCost prompt_cost(const ChatRequest& request, const LlmSettings& settings);

}  // namespace kernelpro
