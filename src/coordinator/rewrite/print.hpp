// Programs as source text.
#pragma once

#include <string>

#include "coordinator/rewrite/program.hpp"

namespace kernelpro {

[[nodiscard]] std::string print_expr(const Expr& expr);
// With `indent` levels of two spaces; ends in a newline.
[[nodiscard]] std::string print_stmt(const Stmt& stmt, int indent);
[[nodiscard]] std::string print_program(const Program& program);

}  // namespace kernelpro
