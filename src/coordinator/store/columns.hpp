// Lists of records turned on their side. For the files of this room and their tests only.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace kernelpro::store {

// Replaces each list of two or more objects with the same keys by one object of lists,
// {"[]": {"seed": […], "error": […]}}, at every depth: a key is said once, and like stands beside
// like, which packs better by a tenth. No object of ours has the key "[]".
[[nodiscard]] nlohmann::json to_columns(const nlohmann::json& value);
// The inverse. What to_columns cannot have written stays as it is.
[[nodiscard]] nlohmann::json from_columns(const nlohmann::json& value);

}  // namespace kernelpro::store
