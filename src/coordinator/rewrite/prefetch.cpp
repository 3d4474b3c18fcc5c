#include <algorithm>
#include <utility>

#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/print.hpp"
#include "coordinator/rewrite/transformations.hpp"

namespace kernelpro {
namespace {

bool reads_array(const Expr& expr) {
  return expr.kind == Expr::Kind::subscript || std::ranges::any_of(expr.parts, reads_array);
}

}  // namespace

Result<Program> prefetch(const Program& program, const Place& place) {
  const Stmt& loop = stmt_at(program, place);
  if (!is_counted(loop)) {
    return make_error(ErrorKind::bad_input,
                      "the loop over " + loop_label(loop) + " does not count up by one");
  }
  const std::string& variable = loop.loop.variable;
  const Names local = declared_in(loop.body);
  std::vector<Expr> direct;
  std::vector<Expr> indirect;
  Names seen;
  for_each_expr(loop.body, [&](const Expr& expr) {
    if (expr.kind != Expr::Kind::subscript || !mentions(expr.parts[1], variable) ||
        mentions(names_in(expr), local) || !seen.insert(print_expr(expr)).second) {
      return;
    }
    (reads_array(expr.parts[1]) ? indirect : direct).push_back(expr);
  });
  if (direct.empty() && indirect.empty()) {
    return make_error(ErrorKind::bad_input, "the loop over " + variable +
                                                " reads no array at a place that moves with it");
  }
  Program out = program;
  Names used = names_in(program);
  const std::string distance =
      add_tunable(out, "AHEAD_" + upper_case(variable), {4, 8, 16, 32, 64}, 16);
  const Expr later = make_binary("+", make_name(variable, loop.loop.type), make_name(distance));
  const std::string ahead = fresh_name(variable + "_ahead", used);
  Body before;
  // An index array is read to know the address, so never behind its end.
  before.push_back(
      make_declaration("const " + mutable_type(loop.loop.type), ahead,
                       {make_conditional(make_binary("<", later, end_of(loop.loop)), later,
                                         make_name(variable, loop.loop.type))}));
  for (Expr expr : indirect.empty() ? direct : indirect) {
    substitute(expr.parts[1], variable, make_name(ahead));
    Stmt stmt;
    stmt.kind = Stmt::Kind::expression;
    stmt.exprs = {make_call("__builtin_prefetch", {Expr{Expr::Kind::unary, "&", {}, {expr}}})};
    before.push_back(std::move(stmt));
  }
  Body& body = stmt_at(out, place).body;
  body.insert(body.begin(), before.begin(), before.end());
  return out;
}

std::vector<Offer> offer_prefetch(const Program& program) {
  std::vector<Offer> offers;
  for (const Place& place : innermost_loops(program)) {
    offers.push_back({site_label(program, loops_around(program, place)),
                      "what comes later asked for early",
                      [program, place] { return prefetch(program, place); }});
  }
  return offers;
}

}  // namespace kernelpro
