#include "coordinator/llm/json_parts.hpp"

#include <nlohmann/json.hpp>

namespace kernelpro {

const nlohmann::json& part(const nlohmann::json& value, std::string_view key) {
  static const nlohmann::json nothing;
  if (!value.is_object()) {
    return nothing;
  }
  const auto found = value.find(key);
  return found == value.end() ? nothing : *found;
}

std::string text_part(const nlohmann::json& value, std::string_view key) {
  const nlohmann::json& found = part(value, key);
  return found.is_string() ? found.get<std::string>() : std::string();
}

std::optional<std::int64_t> tokens_part(const nlohmann::json& value, std::string_view key) {
  const nlohmann::json& found = part(value, key);
  if (!found.is_number_unsigned() || found.get<std::uint64_t>() > most_tokens_of_call) {
    return std::nullopt;
  }
  return found.get<std::int64_t>();
}

}  // namespace kernelpro
