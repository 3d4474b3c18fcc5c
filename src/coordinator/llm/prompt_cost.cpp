#include "coordinator/llm/prompt_cost.hpp"

#include <algorithm>

#include "coordinator/llm/budget.hpp"
#include "coordinator/llm/token_count.hpp"

namespace kernelpro {

std::optional<Price> find_price(const LlmSettings& settings, const std::string& model) {
  const auto own = settings.prices.find(model);
  const auto found = own != settings.prices.end() ? own : settings.prices.find("");
  return found != settings.prices.end() ? std::optional(found->second) : std::nullopt;
}

PromptCost prompt_cost(const ChatRequest& request, const LlmSettings& settings) {
  PromptCost cost;
  cost.worst.input = most_input_tokens(request);
  cost.worst.output = std::max<std::int64_t>(request.max_output, 0);
  cost.about_input = about_input_tokens(request);
  cost.price = find_price(settings, request.model);
  cost.cost = worst_charge(cost.worst, cost.price).cost;
  return cost;
}

}  // namespace kernelpro
