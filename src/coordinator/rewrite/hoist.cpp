#include <algorithm>
#include <map>
#include <utility>

#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/convert.hpp"
#include "coordinator/rewrite/print.hpp"
#include "coordinator/rewrite/transformations.hpp"

namespace kernelpro {
namespace {

enum class Keeps { all, members };

// The types of what the statements store through pointers and references.
void add_stored_types(const Body& body, Names& types) {
  for (const Stmt& stmt : body) {
    if (stmt.kind == Stmt::Kind::assignment && stmt.exprs[0].kind != Expr::Kind::name) {
      types.insert(mutable_type(stmt.exprs[0].type));
    }
    add_stored_types(stmt.body, types);
    add_stored_types(stmt.otherwise, types);
  }
}

// Whether a store of the one type may change a value of the other, as C++ has it: bytes are part of
// everything, and a floating number is no whole number and no pointer.
bool may_change(const std::string& stored, const std::string& type) {
  static const Names bytes = {"char",        "signed char",  "unsigned char", "int8_t", "uint8_t",
                              "std::int8_t", "std::uint8_t", "std::byte",     ""};
  if (bytes.contains(stored)) {
    return true;
  }
  if (is_floating(stored) || is_floating(type)) {
    return stored == mutable_type(type);
  }
  return is_pointer(stored) == is_pointer(type);
}

class Hoister {
 public:
  Hoister(const Program& program, const Stmt& loop, Keeps keeps)
      : loop_(loop), keeps_(keeps), changing_(written_in(loop.body)), used_(names_in(program)) {
    changing_.insert(loop.loop.variable);
    changing_.merge(declared_in(loop.body));
    add_stored_types(loop.body, stored_);
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

  // Whether compilers must read the member again in every round.
  [[nodiscard]] bool is_read_again(const Expr& member) const {
    return std::ranges::any_of(
        stored_, [&](const std::string& stored) { return may_change(stored, member.type); });
  }

  // Loads, calls and arithmetic on floating numbers; compilers see to whole numbers themselves. A
  // store may change a member of what a reference names, as far as compilers know.
  [[nodiscard]] bool is_worth_it(const Expr& expr) const {
    const bool computed = expr.kind == Expr::Kind::subscript || expr.kind == Expr::Kind::call ||
                          expr.kind == Expr::Kind::binary || expr.kind == Expr::Kind::cast;
    const bool load =
        expr.kind == Expr::Kind::subscript && (is_floating(expr.type) || is_integer(expr.type));
    const bool member = expr.kind == Expr::Kind::member &&
                        (keeps_ == Keeps::all ||
                         (expr.parts[0].kind != Expr::Kind::subscript && is_read_again(expr))) &&
                        (is_floating(expr.type) || is_integer(expr.type) || is_pointer(expr.type));
    return member || (keeps_ == Keeps::all && computed && (load || is_floating(expr.type)));
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
    if (keeps_ == Keeps::all && expr.kind == Expr::Kind::binary && expr.text == "/" &&
        is_floating(expr.type) && is_fixed(expr.parts[1]) &&
        expr.parts[1].kind != Expr::Kind::literal) {
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
  Keeps keeps_;
  Names changing_;
  Names used_;
  Names stored_;  // types
  std::map<std::string, std::string> names_;
  Body before_;
};

}  // namespace

Result<Program> hoist(const Program& program, const Place& place) {
  KP_LET(Body changed, Hoister(program, stmt_at(program, place), Keeps::all).run());
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

Result<Program> keep_members(const Program& program) {
  std::vector<Place> places = innermost_loops(program);
  // The last one first: what is put in front of a loop moves those behind it.
  std::ranges::sort(places, std::ranges::greater(),
                    [](const Place& place) { return std::pair(place.item, place.path); });
  Program out = program;
  bool changed = false;
  for (const Place& place : places) {
    if (const Result<Body> kept = Hoister(out, stmt_at(out, place), Keeps::members).run()) {
      replace_at(out, place, *kept);
      changed = true;
    }
  }
  if (!changed) {
    return make_error(
        ErrorKind::bad_input,
        "no loop reads a member that stays the same and that its stores might change");
  }
  return out;
}

std::vector<Offer> offer_keep_members(const Program& program) {
  return {{"all innermost loops", "members read once, in front of the loop",
           [program] { return keep_members(program); }}};
}

}  // namespace kernelpro
