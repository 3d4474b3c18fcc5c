#include "common/wire/llm_json.hpp"

#include <nlohmann/json.hpp>

#include "common/wire/writer.hpp"

namespace kernelpro {

namespace {

nlohmann::json price_json(const Price& price) {
  return {{"input", price.input},
          {"cached", price.cached},
          {"cache_written", price.cache_written},
          {"output", price.output}};
}

nlohmann::json roles_json(const std::map<LlmRole, RoleSettings>& roles) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [role, settings] : roles) {
    nlohmann::json one = {{"llm", wire::write_text(settings.llm)}};
    if (settings.temperature) {
      one["temperature"] = wire::write_number(*settings.temperature);
    }
    json[std::string(name_of(role))] = std::move(one);
  }
  return json;
}

}  // namespace

nlohmann::json to_json(const Usage& usage) {
  return {{"input", usage.input},
          {"cached", usage.cached},
          {"cache_written", usage.cache_written},
          {"output", usage.output}};
}

nlohmann::json to_json(const LlmSettings& settings) {
  using namespace wire;
  nlohmann::json prices = nlohmann::json::object();
  for (const auto& [model, price] : settings.prices) {
    prices[valid_utf8(model)] = price_json(price);
  }
  return {{"llm", write_text(settings.llm)},
          {"roles", roles_json(settings.roles)},
          {"model", write_text(settings.model)},
          {"base_url", write_text(settings.base_url)},
          {"key_file", write_text(settings.key_file)},
          {"max_output", settings.max_output},
          {"prompt_tokens", settings.prompt_tokens},
          {"token_budget", settings.token_budget},
          {"money_budget", settings.money_budget},
          {"prices", std::move(prices)},
          {"reviewer", settings.reviewer},
          {"tools", name_of(settings.tools)},
          {"prompts", write_text(settings.prompts)},
          {"repairs", settings.repairs},
          {"timeout_seconds", write_number(settings.timeout_seconds)}};
}

namespace wire {

namespace {

Price read_price(const Place& place) {
  Fields fields(place);
  Price price;
  price.input = fields.at("input").integer();
  price.cached = fields.at("cached").integer();
  price.cache_written = fields.at("cache_written").integer();
  price.output = fields.at("output").integer();
  fields.end();
  return price;
}

RoleSettings read_role(const Place& place) {
  Fields fields(place);
  RoleSettings role;
  role.llm = fields.at("llm").text();
  if (const std::optional<Place> temperature = fields.maybe("temperature")) {
    role.temperature = temperature->finite();
  }
  fields.end();
  return role;
}

std::map<LlmRole, RoleSettings> read_roles(const Place& place) {
  std::map<LlmRole, RoleSettings> roles;
  for (const auto& [name, member] : place.members()) {
    const std::optional<LlmRole> role = parse_llm_role(name);
    if (!role) {
      member.complain("no role is called that");
      continue;
    }
    roles.emplace(*role, read_role(member));
  }
  return roles;
}

}  // namespace

Usage read_usage(const Place& place) {
  Fields fields(place);
  Usage usage;
  usage.input = fields.at("input").integer();
  usage.cached = fields.at("cached").integer();
  usage.cache_written = fields.at("cache_written").integer();
  usage.output = fields.at("output").integer();
  fields.end();
  return usage;
}

LlmSettings read_llm_settings(const Place& place) {
  Fields fields(place);
  LlmSettings settings;
  settings.llm = fields.at("llm").text();
  settings.roles = read_roles(fields.at("roles"));
  settings.model = fields.at("model").text();
  settings.base_url = fields.at("base_url").text();
  settings.key_file = fields.at("key_file").text();
  settings.max_output = fields.at("max_output").integer();
  settings.prompt_tokens = fields.at("prompt_tokens").integer();
  settings.token_budget = fields.at("token_budget").integer();
  settings.money_budget = fields.at("money_budget").integer();
  settings.prices = fields.at("prices").map(read_price);
  settings.reviewer = fields.at("reviewer").truth();
  settings.tools = fields.at("tools").name(parse_tool_use, "proactive, reactive");
  settings.prompts = fields.at("prompts").text();
  settings.repairs = fields.at("repairs").small_integer();
  settings.timeout_seconds = fields.at("timeout_seconds").number();
  fields.end();
  return settings;
}

}  // namespace wire

}  // namespace kernelpro
