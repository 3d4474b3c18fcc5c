// What a failed candidate's author needs to see, and no more.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "common/model/verdict.hpp"

namespace kernelpro::agents {

// The first errors of a compiler's text with their lines of the source; what says the same once,
// chains of instantiation by their ends. At most about `most` bytes.
[[nodiscard]] std::string condense_compiler(const std::string& text, const std::string& source,
                                            std::size_t most = 6000);

// Outcome, stage and rule, what that means, and the evidence.
[[nodiscard]] std::string condense(const Verdict& verdict, const std::string& source);

// How many times the bound the error was that failed; none: it failed for something else.
[[nodiscard]] std::optional<double> excess_of(const Verdict& verdict);

// The same error of two candidates has the same signature: no lines, numbers or addresses.
[[nodiscard]] std::string error_signature(const Verdict& verdict);

}  // namespace kernelpro::agents
