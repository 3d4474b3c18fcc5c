// What a model would be asked and what that may cost, without asking it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "coordinator/llm/openai_form.hpp"
#include "coordinator/llm/prompt_cost.hpp"
#include "coordinator/loop/partners.hpp"

namespace kernelpro {

// The whole request with its worst case.
struct Preview {
  PromptPreview first;
  PromptCost cost;
  std::int64_t candidate_tokens = 0;  // of one candidate at worst
  std::int64_t candidate_cost = 0;
  std::int64_t token_budget = 0;  // of the run; 0: none
  std::int64_t money_budget = 0;
  std::string_view limit_name = old_limit_name;
  bool fits = true;  // the first call alone into the budgets
};

// `store`: whose index of code models learn from.
[[nodiscard]] Result<Preview> make_preview(const AgentOrder& order,
                                           const std::filesystem::path& store);
[[nodiscard]] nlohmann::json to_json(const Preview& preview);

// An author that writes nothing: it keeps what the call for the first node would be, whichever
// thread asks first, and ends the run.
class PreviewAuthor : public Author {
 public:
  explicit PreviewAuthor(std::filesystem::path store) : store_(std::move(store)) {}
  [[nodiscard]] Result<Proposed> write(const AgentOrder& order, std::stop_token stop) override;
  [[nodiscard]] const std::optional<Preview>& preview() const { return preview_; }

 private:
  std::filesystem::path store_;
  std::mutex mutex_;
  NodeId node_ = no_node;
  std::optional<Preview> preview_;
};

}  // namespace kernelpro
