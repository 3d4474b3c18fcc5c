#include <algorithm>
#include <map>

#include "coordinator/rewrite/analysis.hpp"
#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/print.hpp"

namespace kernelpro {
namespace {

// Walks a list with the names that are visible in it.
void unshadow(Body& body, Names visible, Names& used) {
  for (std::size_t i = 0; i < body.size(); ++i) {
    Stmt& stmt = body[i];
    if (stmt.kind == Stmt::Kind::declaration) {
      if (visible.contains(stmt.text)) {
        const std::string old = stmt.text;
        stmt.text = fresh_name(old, used);
        for (std::size_t after = i + 1; after < body.size(); ++after) {
          substitute(body[after], old, make_name(stmt.text));
        }
      }
      visible.insert(stmt.text);
    }
    Names inside = visible;
    if (stmt.kind == Stmt::Kind::loop && stmt.loop.header.empty()) {
      if (visible.contains(stmt.loop.variable)) {
        const std::string old = stmt.loop.variable;
        stmt.loop.variable = fresh_name(old, used);
        substitute(stmt.body, old, make_name(stmt.loop.variable));
      }
      inside.insert(stmt.loop.variable);
    }
    unshadow(stmt.body, inside, used);
    unshadow(stmt.otherwise, inside, used);
  }
}

std::optional<Expr> product_slope(const Expr& expr, const std::string& variable) {
  const bool left = mentions(expr.parts[0], variable);
  const bool right = mentions(expr.parts[1], variable);
  if (left && right) {
    return std::nullopt;
  }
  const std::optional<Expr> inner = slope(expr.parts[left ? 0 : 1], variable);
  if (!inner) {
    return std::nullopt;
  }
  return make_binary("*", *inner, expr.parts[left ? 1 : 0]);
}

}  // namespace

void unshadow(Function& function) {
  Names visible;
  for (const Parameter& parameter : function.parameters) {
    visible.insert(parameter.name);
  }
  Names used = names_in(function.body);
  used.insert(visible.begin(), visible.end());
  unshadow(function.body, visible, used);
}

std::string fresh_name(const std::string& wish, Names& used) {
  std::string name = wish;
  for (int i = 2; used.contains(name); ++i) {
    name = wish + "_" + std::to_string(i);
  }
  used.insert(name);
  return name;
}

Names names_in(const Program& program) {
  return names_in(Expr{Expr::Kind::verbatim, print_program(program), {}, {}});
}

std::optional<Expr> slope(const Expr& expr, const std::string& variable) {
  if (!mentions(expr, variable)) {
    return make_number(0);
  }
  if (expr.kind == Expr::Kind::name) {
    return make_number(1);
  }
  if (expr.kind == Expr::Kind::cast && is_integer(expr.type)) {
    return slope(expr.parts[0], variable);
  }
  if (expr.kind != Expr::Kind::binary) {
    return std::nullopt;
  }
  if (expr.text == "*") {
    return product_slope(expr, variable);
  }
  if (expr.text != "+" && expr.text != "-") {
    return std::nullopt;
  }
  const std::optional<Expr> left = slope(expr.parts[0], variable);
  const std::optional<Expr> right = slope(expr.parts[1], variable);
  if (!left || !right) {
    return std::nullopt;
  }
  if (expr.text == "-" && is_number(*left, 0)) {
    return Expr{Expr::Kind::unary, "-", right->type, {*right}};
  }
  return make_binary(expr.text, *left, *right);
}

}  // namespace kernelpro
