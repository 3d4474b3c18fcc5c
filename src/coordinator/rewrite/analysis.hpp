// Questions about statement trees, and substitution in them.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/rewrite/program.hpp"

namespace kernelpro {

using Names = std::set<std::string>;
using Body = std::vector<Stmt>;

// Every identifier, also in text that is not understood.
[[nodiscard]] Names names_in(const Expr& expr);
[[nodiscard]] Names names_in(const Stmt& stmt);
[[nodiscard]] Names names_in(const Body& body);
[[nodiscard]] bool mentions(const Names& names, const Names& any_of);
[[nodiscard]] bool mentions(const Expr& expr, const std::string& name);

// Declared inside, loop variables with them.
[[nodiscard]] Names declared_in(const Body& body);
// The variables through which something is written: `c` for c[i] = ..., also what unknown calls are
// given and whatever stands in text that is not understood.
[[nodiscard]] Names written_in(const Body& body);
// The array or variable an assignment goes to; empty when unknown.
[[nodiscard]] std::string root_of(const Expr& expr);
// Subscripts of `array` that are read, and not only assigned to with `=`.
[[nodiscard]] bool reads(const Body& body, const std::string& array);

[[nodiscard]] bool any_stmt(const Body& body, const std::function<bool(const Stmt&)>& matches);
[[nodiscard]] bool has_loop(const Body& body);
// Holds text that is not understood, or leaves the function.
[[nodiscard]] bool is_opaque(const Body& body);
// Also: calls of unknown functions.
[[nodiscard]] bool has_effects(const Body& body);

// Every expression, loop headers with them; subscripts are visited after their parts.
void for_each_expr(Expr& expr, const std::function<void(Expr&)>& visit);
void for_each_expr(Body& body, const std::function<void(Expr&)>& visit);
void for_each_expr(const Body& body, const std::function<void(const Expr&)>& visit);

void substitute(Expr& expr, const std::string& name, const Expr& value);
void substitute(Stmt& stmt, const std::string& name, const Expr& value);
void substitute(Body& body, const std::string& name, const Expr& value);

// Gives every declaration that hides another one of the function a name of its own.
void unshadow(Function& function);

// A name that stands nowhere in `used`, and now does.
[[nodiscard]] std::string fresh_name(const std::string& wish, Names& used);
[[nodiscard]] Names names_in(const Program& program);

// d expr / d variable as an expression: 0 when it does not occur, nothing when it is not linear.
[[nodiscard]] std::optional<Expr> slope(const Expr& expr, const std::string& variable);

}  // namespace kernelpro
