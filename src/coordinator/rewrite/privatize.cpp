#include <algorithm>
#include <optional>
#include <utility>

#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/jam.hpp"
#include "coordinator/rewrite/print.hpp"
#include "coordinator/rewrite/scratch.hpp"
#include "coordinator/rewrite/transformations.hpp"

namespace kernelpro {
namespace {

// Arrays of which every round writes the same elements: scratch memory as a rule.
Names scratch_arrays(const Stmt& loop) {
  const Names declared = declared_in(loop.body);
  const Names varying = varying_names(loop);
  Names arrays;
  (void)any_stmt(loop.body, [&](const Stmt& stmt) {
    if (stmt.kind == Stmt::Kind::assignment && stmt.exprs[0].kind == Expr::Kind::subscript &&
        stmt.exprs[0].parts[0].kind == Expr::Kind::name &&
        !mentions(names_in(stmt.exprs[0]), varying)) {
      const std::string& name = stmt.exprs[0].parts[0].text;
      const bool pointer = stmt.exprs[0].parts[0].type.find('*') != std::string::npos;
      const bool already = name.find("_own") != std::string::npos;
      if (pointer && !already && !declared.contains(name)) {
        arrays.insert(name);
      }
    }
    return false;
  });
  return arrays;
}

// Finds how far into the array the loops inside reach.
class Reach {
 public:
  Reach(const Stmt& loop, std::string array) : array_(std::move(array)) { visit(loop.body, {}); }

  // The number of elements, or nothing when an index is more than a loop's variable.
  [[nodiscard]] std::optional<Expr> size() const {
    if (!plain_ || !size_) {
      return std::nullopt;
    }
    return size_;
  }
  [[nodiscard]] const std::string& type() const { return type_; }

 private:
  void visit(const Body& body, const std::vector<Loop>& loops) {
    for (const Stmt& stmt : body) {
      for (const Expr& expr : stmt.exprs) {
        look(expr, loops);
      }
      std::vector<Loop> inside = loops;
      if (is_counted(stmt)) {
        inside.push_back(stmt.loop);
      }
      visit(stmt.body, inside);
      visit(stmt.otherwise, inside);
    }
  }

  void look(const Expr& expr, const std::vector<Loop>& loops) {
    if (expr.kind == Expr::Kind::subscript && expr.parts[0].kind == Expr::Kind::name &&
        expr.parts[0].text == array_) {
      type_ = element_type(expr.parts[0].type);
      add(expr.parts[1], loops);
    }
    const bool bare = expr.kind == Expr::Kind::name && expr.text == array_;
    plain_ = plain_ && !bare;
    for (std::size_t i = 0; i < expr.parts.size(); ++i) {
      const bool base =
          i == 0 && expr.kind == Expr::Kind::subscript && expr.parts[0].text == array_;
      if (!base) {
        look(expr.parts[i], loops);
      }
    }
  }

  void add(const Expr& index, const std::vector<Loop>& loops) {
    if (is_number(index, 0)) {
      return;  // any array that is used has a first element
    }
    const auto loop = std::find_if(loops.rbegin(), loops.rend(), [&](const Loop& one) {
      return index.kind == Expr::Kind::name && one.variable == index.text;
    });
    if (loop == loops.rend()) {
      plain_ = false;
      return;
    }
    const Expr end = end_of(*loop);
    if (!size_) {
      size_ = end;
    } else if (print_expr(*size_) != print_expr(end)) {
      plain_ = false;
    }
  }

  std::string array_;
  std::optional<Expr> size_;
  std::string type_;
  bool plain_ = true;
};

// A round must write an element before it reads it: the first statement that touches the array sets
// it.
bool is_set_first(const Stmt& loop, const std::string& array) {
  bool set = false;
  (void)any_stmt(loop.body, [&](const Stmt& stmt) {
    const bool touched =
        std::ranges::any_of(stmt.exprs, [&](const Expr& expr) { return mentions(expr, array); });
    set = touched && stmt.kind == Stmt::Kind::assignment && stmt.text == "=" &&
          root_of(stmt.exprs[0]) == array && !mentions(stmt.exprs[1], array);
    return touched;
  });
  return set;
}

}  // namespace

Result<Program> privatize(const Program& program, const Place& place, const std::string& array) {
  const Stmt& loop = stmt_at(program, place);
  if (!is_set_first(loop, array)) {
    return refuse("a round of the loop over " + loop_label(loop) + " uses what stands in " + array +
                  " before");
  }
  const Reach reach(loop, array);
  if (!reach.size()) {
    return refuse("how much of " + array + " a round of the loop over " + loop_label(loop) +
                  " uses is not known");
  }
  Names inside = declared_in(loop.body);
  inside.insert(loop.loop.variable);
  if (mentions(names_in(*reach.size()), inside)) {
    return refuse("how much of " + array + " is used differs between rounds of the loop over " +
                  loop_label(loop));
  }
  Program out = program;
  Names used = names_in(program);
  const std::string owner = fresh_name(array + "_memory", used);
  const std::string own = fresh_name(array + "_own", used);
  const Expr size = *reach.size();
  const Expr positive =
      make_conditional(make_binary(">", size, make_number(0)), size, make_number(1));
  const Body memory = make_scratch(out, {owner, own, reach.type(), positive});
  Body& body = stmt_at(out, place).body;
  substitute(body, array, make_name(own, reach.type() + "*"));
  body.insert(body.begin(), memory.begin(), memory.end());
  return out;
}

std::vector<Offer> offer_privatize(const Program& program) {
  std::vector<Offer> offers;
  for (const Place& place : hot_loops(program)) {
    const Stmt& loop = stmt_at(program, place);
    if (!loop.loop.header.empty() || !has_loop(loop.body)) {
      continue;
    }
    for (const std::string& array : scratch_arrays(loop)) {
      offers.push_back({site_label(program, {place}) + ", array " + array,
                        "scratch memory " + array +
                            " of its own for every round of the loop over " + loop_label(loop),
                        [program, place, array] { return privatize(program, place, array); }});
    }
  }
  return offers;
}

}  // namespace kernelpro
