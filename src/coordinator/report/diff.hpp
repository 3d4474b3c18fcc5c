// What changed between two texts.
#pragma once

#include <string>

namespace kernelpro {

// A unified diff with three lines of context, as `patch` reads it; empty when the texts are equal.
[[nodiscard]] std::string unified_diff(const std::string& before, const std::string& after,
                                       const std::string& before_name,
                                       const std::string& after_name);

}  // namespace kernelpro
