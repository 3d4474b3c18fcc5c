// What programs ask of us, held against the schemas that we publish.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kernelpro {

// What is wrong with `value`, with the place of it: "/sources: expected 1 to 8 entries, found 9";
// empty: nothing. Knows what our schemas use: type, enum, properties, required,
// additionalProperties, items, and the bounds of numbers, texts and arrays.
[[nodiscard]] std::string schema_complaint(const nlohmann::json& schema,
                                           const nlohmann::json& value,
                                           const std::string& place = "");

}  // namespace kernelpro
