// The fields of structs, out of clang's declarations.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/task/own_type.hpp"

namespace kernelpro {

// Of the struct `name`, which may be an instance of a template ("View<int, double>") or known by
// its typedef alone; nothing where it is none, or hides or inherits some. `trees` are the
// declarations that have to do with its name.
[[nodiscard]] std::optional<RecordFields> record_fields(const std::vector<nlohmann::json>& trees,
                                                        const std::string& name);

// The fields in which two objects of the class may differ: all but constants that the class itself
// gives their values. Nothing where the class is not there, or inherits some.
[[nodiscard]] std::optional<std::vector<std::string>> state_fields(
    const std::vector<nlohmann::json>& trees, const std::string& name);

// `typedef struct { … } NAME;`: the declaration behind the struct has its name.
[[nodiscard]] std::string name_in(const std::vector<nlohmann::json>& trees, std::size_t at);

[[nodiscard]] std::string without_spaces(std::string text);

}  // namespace kernelpro
