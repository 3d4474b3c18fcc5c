#include <algorithm>
#include <map>
#include <utility>

#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/convert.hpp"
#include "coordinator/rewrite/print.hpp"
#include "coordinator/rewrite/transformations.hpp"

namespace kernelpro {
namespace {

class Hoister {
 public:
  Hoister(const Program& program, const Stmt& loop)
      : loop_(loop), changing_(written_in(loop.body)), used_(names_in(program)) {
    changing_.insert(loop.loop.variable);
    changing_.merge(declared_in(loop.body));
  }

  // The values to compute first and the loop that uses them.
  Result<Body> run() {
    if (!loop_.loop.header.empty() || is_opaque(loop_.body)) {
      return refuse("holds statements that are not understood");
    }
    visit(loop_.loop.upper, true);
    visit(loop_.body, true);
    if (before_.empty()) {
      return refuse("computes nothing that stays the same and is worth keeping");
    }
    before_.push_back(loop_);
    return before_;
  }

 private:
  [[nodiscard]] Error refuse(const std::string& why) const {
    return make_error(ErrorKind::bad_input, "the loop over " + loop_label(loop_) + " " + why);
  }

  [[nodiscard]] bool is_fixed(const Expr& expr) const {
    return !mentions(names_in(expr), changing_) && !has_effect(expr);
  }

  // Loads, calls and arithmetic on floating numbers; compilers see to whole numbers themselves. A
  // store may change a member of what a reference names, as far as compilers know.
  static bool is_worth_it(const Expr& expr) {
    const bool computed = expr.kind == Expr::Kind::subscript || expr.kind == Expr::Kind::call ||
                          expr.kind == Expr::Kind::binary || expr.kind == Expr::Kind::cast;
    const bool load =
        expr.kind == Expr::Kind::subscript && (is_floating(expr.type) || is_integer(expr.type));
    const bool member = expr.kind == Expr::Kind::member &&
                        (is_floating(expr.type) || is_integer(expr.type) || is_pointer(expr.type));
    return member || (computed && (load || is_floating(expr.type)));
  }

  void visit(Body& body, bool certain) {
    for (Stmt& stmt : body) {
      for (std::size_t i = 0; i < stmt.exprs.size(); ++i) {
        const bool target = stmt.kind == Stmt::Kind::assignment && i == 0;
        if (target) {
          visit_target(stmt.exprs[0], certain);
        } else {
          visit(stmt.exprs[i], certain);
        }
      }
      const bool inside = certain && stmt.kind == Stmt::Kind::block;
      visit(stmt.body, inside);
      visit(stmt.otherwise, inside);
    }
  }

  void visit_target(Expr& target, bool certain) {
    if (target.kind == Expr::Kind::subscript) {
      visit_target(target.parts[0], certain);
      visit(target.parts[1], certain);
    }
  }

  // `certain`: evaluated in every round; memory is read ahead of the loop only then.
  void visit(Expr& expr, bool certain) {
    if (is_fixed(expr) && is_worth_it(expr) && (certain || !reads_memory(expr))) {
      expr = kept(expr);
      return;
    }
    const bool lazy =
        expr.kind == Expr::Kind::conditional || expr.text == "&&" || expr.text == "||";
    for (std::size_t i = 0; i < expr.parts.size(); ++i) {
      visit(expr.parts[i], certain && (!lazy || i == 0));
    }
    if (expr.kind == Expr::Kind::binary && expr.text == "/" && is_floating(expr.type) &&
        is_fixed(expr.parts[1]) && expr.parts[1].kind != Expr::Kind::literal) {
      const Expr one{
          Expr::Kind::literal, mutable_type(expr.type) == "float" ? "1.0F" : "1.0", expr.type, {}};
      Expr inverse = make_binary("/", one, expr.parts[1]);
      inverse.type = expr.type;
      expr.text = "*";
      expr.parts[1] = kept(inverse);
    }
  }

  static bool reads_memory(const Expr& expr) {
    return expr.kind == Expr::Kind::subscript ||
           (expr.kind == Expr::Kind::unary && expr.text == "*") || expr.text.starts_with("->") ||
           std::ranges::any_of(expr.parts, reads_memory);
  }

  Expr kept(const Expr& expr) {
    std::string& name = names_[print_expr(expr)];
    const std::string type = mutable_type(expr.type);
    if (name.empty()) {
      name = fresh_name("fixed", used_);
      before_.push_back(
          make_declaration(is_pointer(type) ? type + " const" : "const " + type, name, {expr}));
    }
    return make_name(name, type);
  }

  Stmt loop_;
  Names changing_;
  Names used_;
  std::map<std::string, std::string> names_;
  Body before_;
};

}  // namespace

Result<Program> hoist(const Program& program, const Place& place) {
  KP_LET(Body changed, Hoister(program, stmt_at(program, place)).run());
  Program out = program;
  replace_at(out, place, changed);
  return out;
}

std::vector<Offer> offer_hoist(const Program& program) {
  std::vector<Offer> offers;
  for (const Place& place : innermost_loops(program)) {
    offers.push_back({site_label(program, loops_around(program, place)),
                      "what stays the same computed in front of the loop",
                      [program, place] { return hoist(program, place); }});
  }
  return offers;
}

}  // namespace kernelpro
