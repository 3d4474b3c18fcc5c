// Looks into JSON that others wrote, where anything may be missing or of another type.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace kernelpro {

// No model reads or writes so many. With the dearest price there can be (parse_price) they cost
// 4e18; more would overflow.
inline constexpr std::int64_t most_tokens_of_call = 1'000'000'000;

// The member of an object; null where there is none.
[[nodiscard]] const nlohmann::json& part(const nlohmann::json& value, std::string_view key);

// Empty where it is no string.
[[nodiscard]] std::string text_part(const nlohmann::json& value, std::string_view key);

// A number of tokens: nothing where it is no whole number, negative, or beyond
// most_tokens_of_call.
[[nodiscard]] std::optional<std::int64_t> tokens_part(const nlohmann::json& value,
                                                      std::string_view key);

}  // namespace kernelpro
