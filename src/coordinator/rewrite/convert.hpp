// From clang's nodes to Program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordinator/rewrite/clang_dump.hpp"
#include "coordinator/rewrite/program.hpp"

namespace kernelpro {

// `text` is what clang compiled; the places of nodes count its bytes.
[[nodiscard]] Expr convert_expr(const AstNode& node, const std::string& text);
// As written, or what a typedef of the author's makes of it where that is a number.
[[nodiscard]] std::string known_type(const AstNode& node);
// The lines of `gap` that are directives, continuation lines joined.
[[nodiscard]] std::vector<std::string> directives_in(const std::string& gap);
// Whether something in the body assigns the variable.
[[nodiscard]] bool changes_variable(const std::vector<Stmt>& body, const std::string& variable);
// i + a < n as i < n - a, `left` and `loop` being the sides of a loop's condition. Where numbers
// have no sign, n may be less than a: then there is no round.
void move_offset(Expr& left, Loop& loop);
// sum = sum + x as sum += x.
void accumulate(Stmt& assignment);
// The statements of a compound statement.
[[nodiscard]] std::vector<Stmt> convert_body(const AstNode& compound, const std::string& text);

// A function with its place, or nothing when it must stay text.
struct ConvertedFunction {
  std::size_t begin = 0;
  std::size_t end = 0;
  Function function;
};
[[nodiscard]] std::vector<ConvertedFunction> convert_functions(
    const std::vector<AstNode>& namespaces, const std::string& text);

// True when text in the expression assigns something ("p++").
[[nodiscard]] bool assigns(const Expr& expr);
// True when evaluating the expression changes something or may: assignments in it, unknown calls.
[[nodiscard]] bool has_effect(const Expr& expr);

}  // namespace kernelpro
