#include "coordinator/app/prompt_preview.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "coordinator/app/agent_author.hpp"
#include "coordinator/app/index_library.hpp"
#include "coordinator/llm/batch.hpp"
#include "coordinator/llm/openai_form.hpp"
#include "coordinator/llm/prompt_cost.hpp"
#include "coordinator/llm/provider.hpp"
#include "coordinator/llm/role_llm.hpp"

namespace kernelpro {

namespace {

// Calls that one candidate takes at most, every answer asked for again once: planner and coder, or
// the fixer; with a reviewer it may go back to the coder once.
constexpr std::int64_t calls_without_review = 4;
constexpr std::int64_t calls_with_review = 8;

// Of the model that the role asks: what stands behind the colon, or what a batch calls it.
std::string model_of(const LlmSettings& settings, LlmRole role) {
  const std::string& llm = llm_of(settings, role);
  const Provider* const provider = provider_of(llm);
  if (provider != nullptr && provider->dialect != nullptr) {
    return llm.substr(llm.find(':') + 1);
  }
  return settings.model.empty() && llm.starts_with(batch_scheme) ? std::string(any_model)
                                                                 : settings.model;
}

bool fits(const LlmSettings& settings, const PromptCost& cost) {
  return (settings.token_budget == 0 ||
          cost.worst.input + cost.worst.output <= settings.token_budget) &&
         (settings.money_budget == 0 || cost.cost <= settings.money_budget);
}

}  // namespace

Result<Preview> make_preview(const AgentOrder& order, const std::filesystem::path& store) {
  const LlmSettings& settings = *order.run->settings.llm;
  KP_LET(const Agents agents, load_agents(settings, find_code_library(store, settings)));
  KP_LET(PromptPreview first, agents.preview(order));
  Preview preview;
  preview.first = std::move(first);
  preview.token_budget = settings.token_budget;
  preview.money_budget = settings.money_budget;
  preview.first.request.model = model_of(settings, preview.first.role);
  if (llm_of(settings, preview.first.role).starts_with(batch_scheme)) {
    preview.limit_name = new_limit_name;
  }
  preview.cost = prompt_cost(preview.first.request, settings);
  preview.fits = fits(settings, preview.cost);
  const std::int64_t calls = settings.reviewer ? calls_with_review : calls_without_review;
  const Usage call{.input = std::max(settings.prompt_tokens, preview.cost.about_input),
                   .cached = 0,
                   .cache_written = 0,
                   .output = settings.max_output};
  preview.candidate_tokens = calls * (call.input + call.output);
  preview.candidate_cost = preview.cost.price ? calls * cost_of(call, *preview.cost.price) : 0;
  return preview;
}

nlohmann::json to_json(const Preview& preview) {
  nlohmann::json json = {{"role", name_of(preview.first.role)},
                         {"request", openai_body(preview.first.request, false, preview.limit_name)},
                         {"about_input_tokens", preview.cost.about_input},
                         {"most_input_tokens", preview.cost.worst.input},
                         {"most_output_tokens", preview.cost.worst.output},
                         {"candidate_tokens", preview.candidate_tokens},
                         {"fits_budget", preview.fits}};
  json["cost_billionths"] =
      preview.cost.price ? nlohmann::json(preview.cost.cost) : nlohmann::json();
  return json;
}

Result<Proposed> PreviewAuthor::write(const AgentOrder& order, std::stop_token /*stop*/) {
  const std::lock_guard lock(mutex_);
  if (!preview_ || order.node < node_) {
    KP_LET(Preview preview, make_preview(order, store_));
    node_ = order.node;
    preview_ = std::move(preview);
  }
  Proposed nothing;
  nothing.kind = Proposed::Kind::spent;
  nothing.reason = "a dry run";
  return nothing;
}

}  // namespace kernelpro
