#include <algorithm>
#include <utility>

#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/print.hpp"
#include "coordinator/rewrite/reductions.hpp"
#include "coordinator/rewrite/transformations.hpp"

namespace kernelpro {
namespace {

// The parameters of the function that are references to numbers.
Names references_of(const Function& function) {
  Names names;
  for (const Parameter& parameter : function.parameters) {
    std::string type = parameter.type;
    const bool reference = type.ends_with('&') && !type.ends_with("&&");
    type = reference ? plain_type(type.substr(0, type.size() - 1)) : "";
    if (type == mutable_type(type) && (is_floating(type) || is_integer(type))) {
      names.insert(parameter.name);
    }
  }
  return names;
}

void add_targets(const Body& body, std::vector<Expr>& targets) {
  for (const Stmt& stmt : body) {
    if (stmt.kind == Stmt::Kind::assignment &&
        std::ranges::find(targets, stmt.exprs[0]) == targets.end()) {
      targets.push_back(stmt.exprs[0]);
    }
    add_targets(stmt.body, targets);
    add_targets(stmt.otherwise, targets);
  }
}

class ResultKeeper {
 public:
  ResultKeeper(Program& program, const Place& place)
      : program_(program), place_(place), loop_(stmt_at(program, place)) {}

  // Whether the loop was changed.
  bool run() {
    if (!loop_.loop.header.empty() || is_opaque(loop_.body)) {
      return false;
    }
    std::vector<Expr> targets;
    add_targets(loop_.body, targets);
    Body before;
    Body after;
    Names used = names_in(program_);
    for (const Expr& target : targets) {
      const std::string kept = fresh_name("kept", used);
      const std::string type = mutable_type(target.type);
      if ((is_floating(type) || is_integer(type)) && is_at_hand(target) && replace(target, kept)) {
        before.push_back(make_declaration(type, kept, {target}));
        after.push_back(make_assignment(target, "=", make_name(kept, type)));
      }
    }
    if (before.empty()) {
      return false;
    }
    choose_extremes(loop_);
    before.push_back(loop_);
    before.insert(before.end(), after.begin(), after.end());
    replace_at(program_, place_, before);
    return true;
  }

 private:
  // A number behind a reference, or an element that was written right in front of the loop: either
  // may be read there whether the loop has rounds or not.
  [[nodiscard]] bool is_at_hand(const Expr& target) const {
    Names changing = declared_in(loop_.body);
    changing.insert(loop_.loop.variable);
    if (target.kind == Expr::Kind::name) {
      return references_of(program_.items[place_.item].function).contains(target.text) &&
             !changing.contains(target.text);
    }
    if (target.kind != Expr::Kind::subscript || mentions(names_in(target), changing)) {
      return false;
    }
    const Body& list = list_at(std::as_const(program_), place_);
    const std::size_t index = place_.path.back();
    return std::any_of(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(index),
                       [&](const Stmt& stmt) {
                         return stmt.kind == Stmt::Kind::assignment && stmt.exprs[0] == target;
                       });
  }

  // False where the loop reaches it by other names too; nothing is changed then.
  bool replace(const Expr& target, const std::string& kept) {
    const std::string text = print_expr(target);
    const std::string root = root_of(target);
    Body body = loop_.body;
    for_each_expr(body, [&](Expr& expr) {
      if (expr.kind == target.kind && print_expr(expr) == text) {
        expr = make_name(kept, mutable_type(target.type));
      }
    });
    Names written = written_in(body);
    const bool moves =
        target.kind == Expr::Kind::subscript && mentions(names_in(target.parts[1]), written);
    if (root.empty() || moves || names_in(body).contains(root) ||
        mentions(loop_.loop.upper, root)) {
      return false;
    }
    loop_.body = std::move(body);
    return true;
  }

  Program& program_;
  Place place_;
  Stmt loop_;
};

}  // namespace

Result<Program> keep_results(const Program& program) {
  std::vector<Place> places = innermost_loops(program);
  // The last one first: what is put around a loop moves those behind it.
  std::ranges::sort(places, std::ranges::greater(),
                    [](const Place& place) { return std::pair(place.item, place.path); });
  Program out = program;
  bool changed = false;
  for (const Place& place : places) {
    changed = ResultKeeper(out, place).run() || changed;
  }
  return changed ? Result<Program>(std::move(out))
                 : refuse("no loop writes the same element or reference in every round");
}

std::vector<Offer> offer_keep_results(const Program& program) {
  return {{"all innermost loops", "results kept in local variables through the loop",
           [program] { return keep_results(program); }}};
}

}  // namespace kernelpro
