#include "coordinator/cli/llm_options.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <string>

#include "coordinator/llm/provider.hpp"

namespace kernelpro {

namespace {

constexpr std::int64_t most_tokens = 1'000'000'000'000;
constexpr double most_dollars = 1e6;
constexpr double billionths = 1e9;
constexpr int most_repairs = 100;
constexpr double most_llm_seconds = 24 * 3600;

std::string whole_path(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).lexically_normal().string();
}

// "batch:DIR" and "replay:FILE" with their whole paths: a run is taken up from any folder.
std::string whole_spec(const std::string& spec) {
  const Provider* const provider = provider_of(spec);
  if (provider == nullptr || provider->dialect != nullptr) {
    return spec;
  }
  const std::size_t behind = provider->name.size() + 1;
  return spec.substr(0, behind) + whole_path(spec.substr(behind));
}

// "coder=0.2": the part before '=' and the part behind; all behind without one.
std::pair<std::string, std::string> split_at_equals(const std::string& text, bool last = false) {
  const std::size_t at = last ? text.rfind('=') : text.find('=');
  return at == std::string::npos ? std::pair(std::string(), text)
                                 : std::pair(text.substr(0, at), text.substr(at + 1));
}

LlmRole role_named(const std::string& name, const std::string& flag) {
  const std::optional<LlmRole> role = parse_llm_role(name);
  if (!role) {
    throw CLI::ValidationError(
        flag, "expected planner, coder, fixer or reviewer, found \"" + name + "\"");
  }
  return *role;
}

void add_models(CLI::App& app, LlmChanges& changes) {
  app.add_option_function<std::string>(
      "--llm",
      [&changes](const std::string& spec) {
        changes.emplace_back([spec](LlmSettings& to) { to.llm = whole_spec(spec); });
      },
      "Who writes candidates: " + llm_forms() + " (default: the playbook alone)");
  app.add_option_function<std::vector<std::string>>(
         "--role",
         [&changes](const std::vector<std::string>& all) {
           for (const std::string& text : all) {
             const std::pair<std::string, std::string> parts = split_at_equals(text);
             const LlmRole role = role_named(parts.first, "--role");
             const std::string spec = whole_spec(parts.second);
             changes.emplace_back([role, spec](LlmSettings& to) { to.roles[role].llm = spec; });
           }
         },
         "ROLE=LLM: another model for planner, coder, fixer or reviewer, repeatable")
      ->allow_extra_args(false);
  app.add_option_function<std::vector<std::string>>(
         "--temperature",
         [&changes](const std::vector<std::string>& all) {
           for (const std::string& text : all) {
             const auto [name, number] = split_at_equals(text);
             double value = 0;
             if (!CLI::detail::lexical_cast(number, value) || value < 0 || value > 2 ||
                 std::isnan(value)) {
               throw CLI::ValidationError("--temperature", "expected [ROLE=]NUMBER from 0 to 2");
             }
             const std::vector<LlmRole> roles =
                 name.empty() ? llm_roles()
                              : std::vector<LlmRole>{role_named(name, "--temperature")};
             changes.emplace_back([roles, value](LlmSettings& to) {
               for (const LlmRole role : roles) {
                 to.roles[role].temperature = value;
               }
             });
           }
         },
         "[ROLE=]NUMBER (default: the provider's), repeatable")
      ->allow_extra_args(false);
  app.add_option_function<std::string>(
      "--model",
      [&changes](const std::string& name) {
        changes.emplace_back([name](LlmSettings& to) { to.model = name; });
      },
      "The model's name in the requests of a batch (default: any)");
}

void add_connection(CLI::App& app, LlmChanges& changes) {
  app.add_option_function<std::string>(
      "--base-url",
      [&changes](const std::string& url) {
        changes.emplace_back([url](LlmSettings& to) { to.base_url = url; });
      },
      "Where the provider is: http://localhost:8000/v1 for a server of your own");
  app.add_option_function<std::string>(
      "--api-key-file",
      [&changes](const std::string& file) {
        changes.emplace_back([file](LlmSettings& to) { to.key_file = whole_path(file); });
      },
      "A file with the key (default: ANTHROPIC_API_KEY or OPENAI_API_KEY)");
  app.add_option_function<double>(
         "--llm-timeout",
         [&changes](double seconds) {
           changes.emplace_back([seconds](LlmSettings& to) { to.timeout_seconds = seconds; });
         },
         "Seconds one call may take (default 600)")
      ->check(CLI::Range(1.0, most_llm_seconds));
}

void add_llm_budgets(CLI::App& app, LlmChanges& changes) {
  app.add_option_function<std::int64_t>(
         "--llm-tokens",
         [&changes](std::int64_t tokens) {
           changes.emplace_back([tokens](LlmSettings& to) { to.token_budget = tokens; });
         },
         "Tokens that models may take in all, in and out (default: no limit)")
      ->check(CLI::Range(std::int64_t{1}, most_tokens));
  app.add_option_function<double>(
         "--llm-dollars",
         [&changes](double dollars) {
           changes.emplace_back([dollars](LlmSettings& to) {
             to.money_budget = static_cast<std::int64_t>(std::floor(dollars * billionths));
           });
         },
         "Dollars that models may cost in all; needs --price")
      ->check(CLI::Range(1e-6, most_dollars));
  app.add_option_function<std::vector<std::string>>(
         "--price",
         [&changes](const std::vector<std::string>& all) {
           for (const std::string& text : all) {
             const std::pair<std::string, std::string> parts = split_at_equals(text, true);
             const std::optional<Price> price = parse_price(parts.second);
             if (!price) {
               throw CLI::ValidationError(
                   "--price",
                   "expected [MODEL=]IN/OUT[/CACHED[/WRITTEN]] in dollars a million "
                   "tokens, found \"" +
                       text + "\"");
             }
             changes.emplace_back([model = parts.first, price = *price](LlmSettings& to) {
               to.prices[model] = price;
             });
           }
         },
         "[MODEL=]IN/OUT[/CACHED[/WRITTEN]]: dollars a million tokens, repeatable")
      ->allow_extra_args(false);
  app.add_option_function<std::int64_t>(
         "--max-output",
         [&changes](std::int64_t tokens) {
           changes.emplace_back([tokens](LlmSettings& to) { to.max_output = tokens; });
         },
         "Tokens one answer may have (default 16384)")
      ->check(CLI::Range(std::int64_t{16}, most_tokens));
  app.add_option_function<std::int64_t>(
         "--prompt-tokens",
         [&changes](std::int64_t tokens) {
           changes.emplace_back([tokens](LlmSettings& to) { to.prompt_tokens = tokens; });
         },
         "Tokens one prompt may have, as estimated (default 48000)")
      ->check(CLI::Range(std::int64_t{1000}, most_tokens));
}

void add_agents(CLI::App& app, LlmChanges& changes) {
  app.add_flag_function(
      "--review",
      [&changes](std::int64_t) {
        changes.emplace_back([](LlmSettings& to) { to.reviewer = true; });
      },
      "A reviewer reads each candidate before it is judged");
  app.add_option_function<std::string>(
         "--tools",
         [&changes](const std::string& use) {
           changes.emplace_back([use](LlmSettings& to) {
             to.tools = parse_tool_use(use).value_or(ToolUse::proactive);
           });
         },
         "proactive (default): findings stand in the prompt; reactive: the model may ask for them")
      ->check(CLI::IsMember({"proactive", "reactive"}));
  app.add_option_function<std::string>(
         "--prompts",
         [&changes](const std::string& folder) {
           changes.emplace_back([folder](LlmSettings& to) { to.prompts = whole_path(folder); });
         },
         "A folder with prompt files of your own")
      ->check(CLI::ExistingDirectory);
  app.add_option_function<int>(
         "--repairs",
         [&changes](int repairs) {
           changes.emplace_back([repairs](LlmSettings& to) { to.repairs = repairs; });
         },
         "Failures in a row that the fixer gets on one branch (default 3)")
      ->check(CLI::Range(0, most_repairs));
}

}  // namespace

void add_llm_options(CLI::App& app, LlmChanges& changes) {
  add_models(app, changes);
  add_connection(app, changes);
  add_llm_budgets(app, changes);
  add_agents(app, changes);
}

}  // namespace kernelpro
