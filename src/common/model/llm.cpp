#include "common/model/llm.hpp"

#include <charconv>
#include <cmath>

#include "common/model/enum_names.hpp"

namespace kernelpro {
namespace {

// Indexed by the enumerator.
constexpr std::array<std::string_view, 4> role_names = {"planner", "coder", "fixer", "reviewer"};
static_assert(role_names.size() == static_cast<std::size_t>(LlmRole::reviewer) + 1);

constexpr std::array<std::string_view, 2> tool_use_names = {"proactive", "reactive"};
static_assert(tool_use_names.size() == static_cast<std::size_t>(ToolUse::reactive) + 1);

constexpr std::array<std::string_view, 3> code_use_names = {"none", "before", "tools"};
static_assert(code_use_names.size() == static_cast<std::size_t>(CodeUse::tools) + 1);

constexpr std::array<std::string_view, 3> call_state_names = {"waiting", "answered", "failed"};
static_assert(call_state_names.size() == static_cast<std::size_t>(CallState::failed) + 1);

// Dollars a million tokens are thousands of billionths a token.
constexpr double billionths = 1000;
constexpr double most_dollars = 1e6;

std::optional<std::int64_t> parse_dollars(std::string_view text) {
  double dollars = 0;
  const auto [stop, error] = std::from_chars(text.begin(), text.end(), dollars);
  if (error != std::errc() || stop != text.end() || !(dollars >= 0) || dollars > most_dollars) {
    return std::nullopt;
  }
  // Upwards: what is cheaper than can be said must not be free.
  return static_cast<std::int64_t>(std::ceil(std::round(dollars * billionths * 1e6) / 1e6));
}

}  // namespace

std::string_view name_of(LlmRole role) {
  return enum_name(role_names, role);
}

std::optional<LlmRole> parse_llm_role(std::string_view name) {
  return find_enum<LlmRole>(role_names, name);
}

const std::vector<LlmRole>& llm_roles() {
  static const std::vector<LlmRole> roles = {LlmRole::planner, LlmRole::coder, LlmRole::fixer,
                                             LlmRole::reviewer};
  return roles;
}

std::string_view name_of(ToolUse use) {
  return enum_name(tool_use_names, use);
}

std::optional<ToolUse> parse_tool_use(std::string_view name) {
  return find_enum<ToolUse>(tool_use_names, name);
}

std::string_view name_of(CodeUse use) {
  return enum_name(code_use_names, use);
}

std::optional<CodeUse> parse_code_use(std::string_view name) {
  return find_enum<CodeUse>(code_use_names, name);
}

std::string_view name_of(CallState state) {
  return enum_name(call_state_names, state);
}

std::int64_t cost_of(const Usage& usage, const Price& price) {
  const std::int64_t plain = usage.input - usage.cached - usage.cache_written;
  return plain * price.input + usage.cached * price.cached +
         usage.cache_written * price.cache_written + usage.output * price.output;
}

std::optional<Price> parse_price(std::string_view text) {
  std::vector<std::int64_t> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find('/', from), text.size());
    const std::optional<std::int64_t> part = parse_dollars(text.substr(from, to - from));
    if (!part) {
      return std::nullopt;
    }
    parts.push_back(*part);
    from = to + 1;
  }
  if (parts.size() < 2 || parts.size() > 4) {
    return std::nullopt;
  }
  const std::int64_t written = parts[0] + (parts[0] + 3) / 4;
  return Price{.input = parts[0],
               .cached = parts.size() > 2 ? parts[2] : parts[0],
               .cache_written = parts.size() > 3 ? parts[3] : written,
               .output = parts[1]};
}

}  // namespace kernelpro
