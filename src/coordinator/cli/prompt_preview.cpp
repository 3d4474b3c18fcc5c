#include "coordinator/cli/prompt_preview.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "coordinator/cli/agent_author.hpp"
#include "coordinator/llm/batch.hpp"
#include "coordinator/llm/openai_form.hpp"
#include "coordinator/llm/prompt_cost.hpp"
#include "coordinator/llm/role_llm.hpp"
#include "coordinator/report/llm_summary.hpp"

namespace kernelpro {

namespace {

// Calls that one candidate takes at most, every answer asked for again once: planner and coder, or
// the fixer; with a reviewer it may go back to the coder once.
constexpr std::int64_t calls_without_review = 4;
constexpr std::int64_t calls_with_review = 8;

struct Preview {
  PromptPreview first;
  PromptCost cost;
  std::int64_t candidate_tokens = 0;  // of one candidate at worst
  std::int64_t candidate_cost = 0;
  std::string_view limit_name = old_limit_name;
  bool fits = true;  // the first call alone into the budgets
};

// Of the model that the role asks: what stands behind the colon, or what a batch calls it.
std::string model_of(const LlmSettings& settings, LlmRole role) {
  const std::string& llm = llm_of(settings, role);
  const bool named = llm.starts_with("anthropic:") || llm.starts_with("openai:");
  if (named) {
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

Result<Preview> make_preview(const AgentOrder& order) {
  const LlmSettings& settings = *order.run->settings.llm;
  const Result<Agents> agents = load_agents(settings);
  if (!agents) {
    return agents.error();
  }
  Result<PromptPreview> first = agents->preview(order);
  if (!first) {
    return first.error();
  }
  Preview preview;
  preview.first = std::move(*first);
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

std::string tools_text(const ChatRequest& request) {
  std::string text;
  for (const ToolSpec& tool : request.tools) {
    text += fmt::format("--- tool {}: {}\n{}\n", tool.name, tool.description, tool.schema);
  }
  return text;
}

std::string text_of(const Preview& preview, const LlmSettings& settings) {
  const ChatRequest& request = preview.first.request;
  std::string text =
      fmt::format("--- to the {}{}\n--- system\n{}\n", name_of(preview.first.role),
                  request.model.empty() ? "" : " (" + request.model + ")", request.system);
  for (const ChatMessage& message : request.messages) {
    text += fmt::format("--- user\n{}\n", message.text);
  }
  text += tools_text(request);
  text += fmt::format(
      "--- this call: about {} tokens in (at most {}), at most {} out{}\n"
      "--- one candidate takes at most about {} tokens{}\n",
      preview.cost.about_input, preview.cost.worst.input, preview.cost.worst.output,
      preview.cost.price ? "; at most " + money_text(preview.cost.cost)
                         : "; its price is not known",
      preview.candidate_tokens,
      preview.cost.price ? ", " + money_text(preview.candidate_cost) : "");
  if (settings.token_budget > 0 || settings.money_budget > 0) {
    text += fmt::format(
        "--- the run may take{}{}{}\n",
        settings.token_budget > 0 ? fmt::format(" {} tokens", settings.token_budget) : "",
        settings.money_budget > 0 ? " " + money_text(settings.money_budget) : "",
        preview.fits ? "" : ": this call does not fit into that at worst, and would not be made");
  }
  return text;
}

nlohmann::json json_of(const Preview& preview) {
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

}  // namespace

Result<std::string> preview_text(const AgentOrder& order) {
  const Result<Preview> preview = make_preview(order);
  return preview ? text_of(*preview, *order.run->settings.llm)
                 : Result<std::string>(preview.error());
}

Result<nlohmann::json> preview_json(const AgentOrder& order) {
  const Result<Preview> preview = make_preview(order);
  return preview ? json_of(*preview) : Result<nlohmann::json>(preview.error());
}

Result<Proposed> PreviewAuthor::write(const AgentOrder& order, std::stop_token /*stop*/) {
  const std::lock_guard lock(mutex_);
  if (!text_ || order.node < node_) {
    const Result<Preview> preview = make_preview(order);
    if (!preview) {
      return preview.error();
    }
    node_ = order.node;
    text_ = text_of(*preview, *run_.settings.llm);
    json_ = json_of(*preview).dump();
  }
  Proposed nothing;
  nothing.kind = Proposed::Kind::spent;
  nothing.reason = "a dry run";
  return nothing;
}

nlohmann::json PreviewAuthor::json() const {
  return nlohmann::json::parse(json_);
}

}  // namespace kernelpro
