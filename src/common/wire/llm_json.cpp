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
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [role, settings] : roles) {
    nlohmann::json one = {{"llm", wire::write_text(settings.llm)}};
    if (settings.temperature) {
      one["temperature"] = wire::write_number(*settings.temperature);
    }
    object[std::string(name_of(role))] = std::move(one);
  }
  return object;
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

nlohmann::json to_json(const LlmCall& call) {
  using namespace wire;
  return {{"id", write_text(call.id)},
          {"node", call.node},
          {"role", name_of(call.role)},
          {"turn", call.turn},
          {"state", name_of(call.state)},
          {"provider", write_text(call.provider)},
          {"model", write_text(call.model)},
          {"answered_by", write_text(call.answered_by)},
          {"failure", write_text(call.failure)},
          {"started", write_text(call.started)},
          {"latency_ns", call.latency_ns},
          {"usage", to_json(call.usage)},
          {"reserved", to_json(call.reserved)},
          {"cost", call.cost},
          {"priced", call.priced}};
}

namespace wire {

namespace {

// In billionths of a dollar; parse_price gives none beyond it.
constexpr std::int64_t dearest = 2'000'000'000;

std::int64_t read_token_price(const Place& place) {
  const std::int64_t price = place.integer();
  if (price < 0 || price > dearest) {
    place.complain_expected("a price from 0 to " + std::to_string(dearest) +
                            " billionths of a dollar");
  }
  return price;
}

Price read_price(const Place& place) {
  Fields fields(place);
  Price price;
  price.input = read_token_price(fields.at("input"));
  price.cached = read_token_price(fields.at("cached"));
  price.cache_written = read_token_price(fields.at("cache_written"));
  price.output = read_token_price(fields.at("output"));
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

LlmCall read_call(const Place& place) {
  Fields fields(place);
  LlmCall call;
  call.id = fields.at("id").text();
  call.node = fields.at("node").integer();
  call.role = fields.at("role").name(parse_llm_role, "planner, coder, fixer, reviewer");
  call.turn = fields.at("turn").small_integer();
  call.state = fields.at("state").name(parse_call_state, "waiting, answered, failed");
  call.provider = fields.at("provider").text();
  call.model = fields.at("model").text();
  call.answered_by = fields.at("answered_by").text();
  call.failure = fields.at("failure").text();
  call.started = fields.at("started").text();
  call.latency_ns = fields.at("latency_ns").integer();
  call.usage = read_usage(fields.at("usage"));
  call.reserved = read_usage(fields.at("reserved"));
  call.cost = read_count(fields.at("cost"));
  call.priced = fields.at("priced").truth();
  fields.end();
  return call;
}

}  // namespace

std::int64_t read_count(const Place& place) {
  const std::int64_t count = place.integer();
  if (count < 0) {
    place.complain_expected("no negative number");
  }
  return count;
}

Usage read_usage(const Place& place) {
  Fields fields(place);
  Usage usage;
  usage.input = read_count(fields.at("input"));
  usage.cached = read_count(fields.at("cached"));
  usage.cache_written = read_count(fields.at("cache_written"));
  usage.output = read_count(fields.at("output"));
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
  settings.max_output = read_count(fields.at("max_output"));
  settings.prompt_tokens = read_count(fields.at("prompt_tokens"));
  settings.token_budget = read_count(fields.at("token_budget"));
  settings.money_budget = read_count(fields.at("money_budget"));
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

Result<LlmCall> llm_call_from_json(const nlohmann::json& json) {
  return wire::read_document(json, wire::read_call);
}

}  // namespace kernelpro
