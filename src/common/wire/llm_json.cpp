#include "common/wire/llm_json.hpp"

#include <nlohmann/json.hpp>

namespace kernelpro {

KP_LAST(ToolUse, reactive);
KP_LAST(CodeUse, tools);
KP_LAST(CallState, failed);

namespace {

auto price(Form& form) {
  return [&form](const char* key, std::int64_t& value) {
    constexpr std::int64_t dearest = 2'000'000'000;  // parse_price gives none beyond it
    form(key, value);
    form.expect(value >= 0 && value <= dearest,
                "a price from 0 to " + std::to_string(dearest) + " billionths of a dollar");
  };
}

}  // namespace

void describe(Form& form, Usage& usage) {
  KP_FIELDS(form.count, usage, input, cached, cache_written, output);
}

void describe(Form& form, Price& prices) {
  KP_FIELDS(price(form), prices, input, cached, cache_written, output);
}

void describe(Form& form, RoleSettings& role) {
  form("llm", role.llm);
  form.maybe("temperature", role.temperature);
}

void describe(Form& form, std::map<LlmRole, RoleSettings>& roles) {
  if (!form.reading()) {
    for (auto& [role, settings] : roles) {
      form(std::string(name_of(role)), settings);
    }
    return;
  }
  for (const auto& [name, member] : form.whole().members()) {
    if (const std::optional<LlmRole> role = parse_llm_role(name)) {
      form(name, roles[*role]);
    } else {
      member.complain("no role is called that");
    }
  }
}

void describe(Form& form, LlmSettings& settings) {
  KP_FIELDS(form, settings, llm, roles, model, base_url, key_file);
  KP_FIELDS(form.count, settings, max_output, prompt_tokens, token_budget, money_budget);
  KP_FIELDS(form, settings, prices, reviewer, tools, prompts, repairs, timeout_seconds);
  form.maybe("code", settings.code);
}

void describe(Form& form, LlmCall& call) {
  KP_FIELDS(form, call, id, node, role, turn, state, provider, model, answered_by, failure, started,
            latency_ns, usage, reserved);
  KP_FIELDS(form.count, call, cost);
  form("priced", call.priced);
}

nlohmann::json to_json(const LlmSettings& settings) {
  return wire::written(settings);
}

KP_JSON_OF(LlmCall, llm_call_from_json)

}  // namespace kernelpro
