// Small changes of a user's source that carry what a build would say.
#pragma once

#include <string>
#include <vector>

namespace kernelpro {

// Without the lines that only a build with OpenMP understands.
[[nodiscard]] std::string without_openmp(const std::string& source);

// Without what only a search reads, its lists of values; in C with constants that C knows. Lines of
// the original stay.
[[nodiscard]] std::string brought_home(const std::string& source, const std::string& original,
                                       bool in_c);

// Of the wanted options that `own` lacks, those that g++ takes within a source: {"O3",
// "fast-math"}.
[[nodiscard]] std::vector<std::string> carried_flags(const std::vector<std::string>& wanted,
                                                     const std::vector<std::string>& own);

// `#pragma GCC optimize` around the function; where it is not found, from behind the includes on.
[[nodiscard]] std::string with_flags(const std::string& source, const std::string& function,
                                     const std::vector<std::string>& flags);

}  // namespace kernelpro
