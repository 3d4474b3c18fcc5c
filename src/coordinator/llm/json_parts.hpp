// Looks into JSON that others wrote, where anything may be missing or of another type.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace kernelpro {

// The member of an object; null where there is none.
[[nodiscard]] const nlohmann::json& part(const nlohmann::json& value, std::string_view key);

// Empty where it is no string.
[[nodiscard]] std::string text_part(const nlohmann::json& value, std::string_view key);

// A number of tokens: nothing where it is no whole number, negative, or beyond a billion.
[[nodiscard]] std::optional<std::int64_t> tokens_part(const nlohmann::json& value,
                                                      std::string_view key);

}  // namespace kernelpro
