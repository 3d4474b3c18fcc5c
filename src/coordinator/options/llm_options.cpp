#include "coordinator/options/llm_options.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <string>

#include "coordinator/llm/provider.hpp"
#include "coordinator/llm/role_llm.hpp"
#include "coordinator/options/number_range.hpp"
#include "coordinator/options/option_groups.hpp"

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
  if (provider == nullptr || provider->dialect != nullptr || provider->name == client_name) {
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

// An option whose value changes the settings.
template <typename T, typename Apply>
CLI::Option* add_change(CLI::App& app, LlmChanges& changes, const std::string& flag,
                        const std::string& text, Apply apply) {
  return app.add_option_function<T>(
      flag,
      [&changes, apply](const T& value) {
        changes.emplace_back([value, apply](LlmSettings& to) { apply(to, value); });
      },
      text);
}

// A repeatable one; `change` checks each of its words.
template <typename Change>
CLI::Option* add_changes(CLI::App& app, LlmChanges& changes, const std::string& flag,
                         const std::string& text, Change change) {
  return app
      .add_option_function<std::vector<std::string>>(
          flag,
          [&changes, change](const std::vector<std::string>& all) {
            for (const std::string& one : all) {
              changes.emplace_back(change(one));
            }
          },
          text)
      ->allow_extra_args(false);
}

auto temperature_change(const std::string& text) {
  const auto [name, number] = split_at_equals(text);
  double value = 0;
  if (!CLI::detail::lexical_cast(number, value) || value < 0 || value > 2 || std::isnan(value)) {
    throw CLI::ValidationError("--temperature", "expected [ROLE=]NUMBER from 0 to 2");
  }
  const std::vector<LlmRole> roles =
      name.empty() ? llm_roles() : std::vector<LlmRole>{role_named(name, "--temperature")};
  return [roles, value](LlmSettings& to) {
    for (const LlmRole role : roles) {
      to.roles[role].temperature = value;
    }
  };
}

auto price_change(const std::string& text) {
  const std::pair<std::string, std::string> parts = split_at_equals(text, true);
  const std::optional<Price> price = parse_price(parts.second);
  if (!price) {
    throw CLI::ValidationError("--price",
                               "expected [MODEL=]IN/OUT[/CACHED[/WRITTEN]] in dollars a million "
                               "tokens, found \"" +
                                   text + "\"");
  }
  return [model = parts.first, price = *price](LlmSettings& to) { to.prices[model] = price; };
}

void add_models(CLI::App& app, LlmChanges& changes) {
  add_change<std::string>(
      app, changes, "--llm",
      "Who writes candidates: " + llm_forms() + " (default: the playbook alone)",
      [](LlmSettings& to, const std::string& spec) { to.llm = whole_spec(spec); });
  add_changes(app, changes, "--role",
              "ROLE=LLM: another model for planner, coder, fixer or reviewer, repeatable",
              [](const std::string& text) {
                const std::pair<std::string, std::string> parts = split_at_equals(text);
                const LlmRole role = role_named(parts.first, "--role");
                return [role, spec = whole_spec(parts.second)](LlmSettings& to) {
                  to.roles[role].llm = spec;
                };
              });
  add_changes(app, changes, "--temperature", "[ROLE=]NUMBER (default: the provider's), repeatable",
              temperature_change);
  add_change<std::string>(app, changes, "--model",
                          "The model's name in the requests of a batch (default: any)",
                          [](LlmSettings& to, const std::string& name) { to.model = name; });
}

void add_connection(CLI::App& app, LlmChanges& changes) {
  add_change<std::string>(
      app, changes, "--base-url",
      "Where the provider is: http://localhost:8000/v1 for a server of your own",
      [](LlmSettings& to, const std::string& url) { to.base_url = url; });
  add_change<std::string>(
      app, changes, "--api-key-file", "A file with the key (default: " + key_variables() + ")",
      [](LlmSettings& to, const std::string& file) { to.key_file = whole_path(file); })
      ->type_name("FILE");
  add_duration(app, "--llm-timeout", "What one call may take (default 10m)", 1, most_llm_seconds,
               [&changes](double seconds) {
                 changes.emplace_back([seconds](LlmSettings& to) { to.timeout_seconds = seconds; });
               });
}

void add_llm_budgets(CLI::App& app, LlmChanges& changes) {
  using Tokens = std::int64_t;
  add_change<Tokens>(app, changes, "--llm-tokens",
                     "Tokens that models may take in all, in and out (default: no limit)",
                     [](LlmSettings& to, Tokens tokens) { to.token_budget = tokens; })
      ->check(between(Tokens{1}, most_tokens));
  add_change<double>(app, changes, "--llm-dollars",
                     "Dollars that models may cost in all; needs --price",
                     [](LlmSettings& to, double dollars) {
                       to.money_budget = static_cast<Tokens>(std::floor(dollars * billionths));
                     })
      ->check(between(1e-6, most_dollars));
  add_changes(app, changes, "--price",
              "[MODEL=]IN/OUT[/CACHED[/WRITTEN]]: dollars a million tokens, repeatable",
              price_change);
  add_change<Tokens>(app, changes, "--max-output", "Tokens one answer may have (default 16384)",
                     [](LlmSettings& to, Tokens tokens) { to.max_output = tokens; })
      ->check(between(Tokens{16}, most_tokens));
  add_change<Tokens>(app, changes, "--prompt-tokens",
                     "Tokens one prompt may have, as estimated (default 48000)",
                     [](LlmSettings& to, Tokens tokens) { to.prompt_tokens = tokens; })
      ->check(between(Tokens{1000}, most_tokens));
}

void add_agents(CLI::App& app, LlmChanges& changes) {
  app.add_flag_function(
      "--review",
      [&changes](std::int64_t given) {
        changes.emplace_back([given](LlmSettings& to) { to.reviewer = given > 0; });
      },
      "A reviewer reads each candidate before it is judged");
  add_change<std::string>(
      app, changes, "--tools",
      "proactive (default): findings stand in the prompt; reactive: the model may ask for them",
      [](LlmSettings& to, const std::string& use) {
        to.tools = parse_tool_use(use).value_or(ToolUse::proactive);
      })
      ->check(one_of({"proactive", "reactive"}));
  add_change<std::string>(
      app, changes, "--code",
      "Of indexed code, before (default): what fits stands in the prompt; tools: the model may "
      "search and read; none",
      [](LlmSettings& to, const std::string& use) {
        to.code = parse_code_use(use).value_or(CodeUse::before);
      })
      ->check(one_of({"none", "before", "tools"}));
  add_change<std::string>(
      app, changes, "--prompts", "A folder with prompt files of your own",
      [](LlmSettings& to, const std::string& folder) { to.prompts = whole_path(folder); })
      ->check(CLI::ExistingDirectory);
  add_change<int>(app, changes, "--repairs",
                  "Failures in a row that the fixer gets on one branch (default 3)",
                  [](LlmSettings& to, int repairs) { to.repairs = repairs; })
      ->check(between(0, most_repairs));
}

}  // namespace

void add_llm_options(CLI::App& app, LlmChanges& changes) {
  add_models(app, changes);
  add_connection(app, changes);
  add_llm_budgets(app, changes);
  add_agents(app, changes);
}

}  // namespace kernelpro
