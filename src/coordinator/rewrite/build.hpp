// Small makers of expressions and statements, for transformations.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/rewrite/program.hpp"

namespace kernelpro {

inline Expr make_name(std::string name, std::string type = {}) {
  return {Expr::Kind::name, std::move(name), std::move(type), {}};
}

inline Expr make_number(std::int64_t value) {
  return {Expr::Kind::literal, std::to_string(value), "int", {}};
}

inline bool is_number(const Expr& expr, std::int64_t value) {
  return expr.kind == Expr::Kind::literal && expr.text == std::to_string(value);
}

// A sum or product with 0 or 1 is left out where that changes nothing.
[[nodiscard]] Expr make_binary(std::string operation, Expr left, Expr right);
// (base + offset)[index] becomes base[offset + index], *&x becomes x.
[[nodiscard]] Expr make_subscript(Expr base, Expr index);

inline Expr make_conditional(Expr condition, Expr then, Expr otherwise) {
  return {Expr::Kind::conditional,
          {},
          then.type,
          {std::move(condition), std::move(then), std::move(otherwise)}};
}

inline Expr make_call(const std::string& callee, std::vector<Expr> arguments,
                      std::string type = {}) {
  arguments.insert(arguments.begin(), make_name(callee));
  return {Expr::Kind::call, {}, std::move(type), std::move(arguments)};
}

inline Stmt make_assignment(Expr left, std::string operation, Expr right) {
  Stmt stmt;
  stmt.kind = Stmt::Kind::assignment;
  stmt.text = std::move(operation);
  stmt.exprs = {std::move(left), std::move(right)};
  return stmt;
}

inline Stmt make_declaration(std::string type, std::string name, std::vector<Expr> init = {}) {
  Stmt stmt;
  stmt.kind = Stmt::Kind::declaration;
  stmt.type = std::move(type);
  stmt.text = std::move(name);
  stmt.exprs = std::move(init);
  return stmt;
}

inline Stmt make_branch(Expr condition, std::vector<Stmt> then, std::vector<Stmt> otherwise = {}) {
  Stmt stmt;
  stmt.kind = Stmt::Kind::branch;
  stmt.exprs = {std::move(condition)};
  stmt.body = std::move(then);
  stmt.otherwise = std::move(otherwise);
  return stmt;
}

// for (type variable = lower; variable < upper; variable += step)
[[nodiscard]] Stmt make_loop(std::string type, std::string variable, Expr lower, Expr upper,
                             Expr step, std::vector<Stmt> body);

// "const float*" of "const float *"; "const int" of "int const".
[[nodiscard]] std::string plain_type(std::string type);
// Without const at its outermost level.
[[nodiscard]] std::string mutable_type(const std::string& type);
// "float" of "const float*" or "float[4]"; empty when it is neither pointer nor array.
[[nodiscard]] std::string element_type(const std::string& type);
// "float" of "const std::vector<float>", "std::span<const float>" or "std::array<float, 4>"; empty
// when it holds no numbers one behind the other.
[[nodiscard]] std::string contained_type(const std::string& type);
[[nodiscard]] bool is_pointer(const std::string& type);
[[nodiscard]] bool is_floating(const std::string& type);
[[nodiscard]] bool is_integer(const std::string& type);

}  // namespace kernelpro
