// What the body of a function does with its sizes, as far as its text shows that.
#pragma once

#include <string>
#include <vector>

#include "coordinator/task/token_list.hpp"

namespace kernelpro {

// The tokens of the function's body, with the brace that opens it; empty where there is none.
[[nodiscard]] Tokens body_of(const Tokens& tokens, const std::string& function);

// The axes that something is taken less of, or shifted by, in the body: "k" of "n - k + 1", of
// "i = -k" and of "i - r" with "r = k / 2".
[[nodiscard]] std::vector<std::string> subtracted_in(const std::string& source,
                                                     const std::string& function,
                                                     const std::vector<std::string>& axes);

// Whether the body doubles the axis: "2 * half", "half * 2", "half << 1".
[[nodiscard]] bool doubles(const std::string& source, const std::string& function,
                           const std::string& axis);

// Whether the body does nothing with the axis but go from row to row: "i * lda", "a += lda". What
// it asserts of it does not count.
[[nodiscard]] bool steps_by(const std::string& source, const std::string& function,
                            const std::string& axis);

// What loops of the body have to do with a number, or with what is computed of it: they go on as
// long as it says (`bound`); it stands in the head of one or goes to another function of the file
// (`near`).
enum class LoopRole { none, near, bound };
[[nodiscard]] LoopRole role_in_loops(const std::string& source, const std::string& function,
                                     const std::string& name);

// Whether it is assert, or a macro that is called like it.
[[nodiscard]] bool asserts(const std::string& word);

}  // namespace kernelpro
