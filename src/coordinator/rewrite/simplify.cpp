#include "coordinator/rewrite/simplify.hpp"

#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <ranges>
#include <utility>

#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/convert.hpp"
#include "coordinator/rewrite/places.hpp"
#include "coordinator/rewrite/print.hpp"

namespace kernelpro {
namespace {

// A sum of names and other terms, each with a whole factor, and a number.
struct Linear {
  std::map<std::string, std::int64_t> terms;
  std::int64_t number = 0;

  void add(const Linear& other, std::int64_t factor) {
    for (const auto& [name, count] : other.terms) {
      terms[name] += factor * count;
      if (terms[name] == 0) {
        terms.erase(name);
      }
    }
    number += factor * other.number;
  }
};

using Known = std::map<std::string, Expr>;

std::optional<std::int64_t> whole_number(const Expr& expr) {
  std::int64_t value = 0;
  const char* end = expr.text.data() + expr.text.size();
  const auto [rest, failure] = std::from_chars(expr.text.data(), end, value);
  const bool whole = expr.kind == Expr::Kind::literal && failure == std::errc() && rest == end;
  return whole ? std::optional(value) : std::nullopt;
}

Linear linear_of(const Expr& expr, const Known& known) {
  Linear out;
  if (const std::optional<std::int64_t> value = whole_number(expr)) {
    out.number = *value;
    return out;
  }
  if (expr.kind == Expr::Kind::name && known.contains(expr.text)) {
    return linear_of(known.at(expr.text), known);
  }
  if (expr.kind == Expr::Kind::binary && (expr.text == "+" || expr.text == "-")) {
    out = linear_of(expr.parts[0], known);
    out.add(linear_of(expr.parts[1], known), expr.text == "+" ? 1 : -1);
    return out;
  }
  if (expr.kind == Expr::Kind::unary && expr.text == "-") {
    out.add(linear_of(expr.parts[0], known), -1);
    return out;
  }
  if (expr.kind == Expr::Kind::binary && expr.text == "*") {
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
      if (const std::optional<std::int64_t> factor = whole_number(expr.parts[side])) {
        out.add(linear_of(expr.parts[1 - side], known), *factor);
        return out;
      }
    }
  }
  out.terms[print_expr(expr)] = 1;
  return out;
}

// The greatest value the facts allow; nothing when it depends on something else.
std::optional<std::int64_t> greatest(Linear form, const std::vector<Fact>& facts,
                                     const Known& known) {
  for (const Fact& fact : std::views::reverse(facts)) {
    const auto term = form.terms.find(fact.variable);
    if (term == form.terms.end()) {
      continue;
    }
    const std::int64_t count = term->second;
    form.terms.erase(term);
    form.add(linear_of(count > 0 ? fact.highest : fact.lowest, known), count);
  }
  return form.terms.empty() ? std::optional(form.number) : std::nullopt;
}

class Simplifier {
 public:
  Body run(const Body& body, const std::vector<Fact>& facts, Known known) {
    Body out;
    for (const Stmt& stmt : body) {
      Stmt changed = stmt;
      for (Expr& expr : changed.exprs) {
        settle(expr, facts, known);
      }
      if (changed.kind == Stmt::Kind::declaration && changed.type.starts_with("const ") &&
          changed.exprs.size() == 1 && is_integer(changed.type) && !has_effect(changed.exprs[0])) {
        known[changed.text] = changed.exprs[0];
      }
      if (changed.kind == Stmt::Kind::branch && add_settled(changed, facts, known, out)) {
        continue;
      }
      std::vector<Fact> inside = facts;
      for (Fact& fact : facts_of(changed)) {
        inside.push_back(std::move(fact));
      }
      changed.body = run(changed.body, inside, known);
      changed.otherwise = run(changed.otherwise, facts, known);
      out.push_back(std::move(changed));
    }
    drop_unused(out);
    return out;
  }

 private:
  static bool is_literal(const Expr& expr, const char* text) {
    return expr.kind == Expr::Kind::literal && expr.text == text;
  }

  // A branch whose condition is known; false when it is not.
  bool add_settled(const Stmt& branch, const std::vector<Fact>& facts, const Known& known,
                   Body& out) {
    const bool yes = is_literal(branch.exprs[0], "true");
    if (!yes && !is_literal(branch.exprs[0], "false")) {
      return false;
    }
    Body taken = run(yes ? branch.body : branch.otherwise, facts, known);
    if (declared_in(taken).empty()) {
      out.insert(out.end(), taken.begin(), taken.end());
      return true;
    }
    Stmt block;
    block.kind = Stmt::Kind::block;
    block.body = std::move(taken);
    out.push_back(std::move(block));
    return true;
  }

  void settle(Expr& expr, const std::vector<Fact>& facts, const Known& known) const {
    for (Expr& part : expr.parts) {
      settle(part, facts, known);
    }
    if (expr.kind == Expr::Kind::conditional) {
      if (is_literal(expr.parts[0], "true") || is_literal(expr.parts[0], "false")) {
        Expr chosen = expr.parts[is_literal(expr.parts[0], "true") ? 1 : 2];
        expr = std::move(chosen);
      }
      return;
    }
    if (expr.kind != Expr::Kind::binary) {
      return;
    }
    if (expr.text == "&&" || expr.text == "||") {
      join(expr);
      return;
    }
    if (const std::optional<bool> known_result = compare(expr, facts, known)) {
      expr = Expr{Expr::Kind::literal, *known_result ? "true" : "false", "bool", {}};
    }
  }

  static void join(Expr& expr) {
    const char* neutral = expr.text == "&&" ? "true" : "false";
    const char* final = expr.text == "&&" ? "false" : "true";
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
      const bool decides = is_literal(expr.parts[side], final);
      if (decides || is_literal(expr.parts[side], neutral)) {
        Expr left = expr.parts[decides ? side : 1 - side];
        expr = std::move(left);
        return;
      }
    }
  }

  static std::optional<bool> compare(const Expr& expr, const std::vector<Fact>& facts,
                                     const Known& known) {
    const bool integers = is_integer(expr.parts[0].type) && is_integer(expr.parts[1].type) &&
                          expr.parts[0].type.find("unsigned") == std::string::npos;
    const std::string& operation = expr.text;
    const bool comparison = operation == "<" || operation == "<=" || operation == ">" ||
                            operation == ">=" || operation == "==" || operation == "!=";
    if (!integers || !comparison) {
      return std::nullopt;
    }
    Linear difference = linear_of(expr.parts[0], known);
    difference.add(linear_of(expr.parts[1], known), -1);
    Linear opposite;
    opposite.add(difference, -1);
    const std::optional<std::int64_t> most = greatest(difference, facts, known);
    std::optional<std::int64_t> least = greatest(opposite, facts, known);
    least = least ? std::optional(-*least) : std::nullopt;
    const bool below = most && *most < 0;
    const bool above = least && *least > 0;
    const bool not_above = most && *most <= 0;
    const bool not_below = least && *least >= 0;
    return decide(operation, below, above, not_above, not_below);
  }

  static std::optional<bool> decide(const std::string& operation, bool below, bool above,
                                    bool not_above, bool not_below) {
    const auto pick = [](bool yes, bool no) {
      return yes || no ? std::optional(yes) : std::nullopt;
    };
    if (operation == "<") {
      return pick(below, not_below);
    }
    if (operation == "<=") {
      return pick(not_above, above);
    }
    if (operation == ">") {
      return pick(above, not_above);
    }
    if (operation == ">=") {
      return pick(not_below, below);
    }
    const bool equal = not_above && not_below;
    const bool different = below || above;
    return operation == "==" ? pick(equal, different) : pick(different, equal);
  }

  // Constants that only settled conditions needed.
  static void drop_unused(Body& body) {
    for (std::size_t i = body.size(); i > 0; --i) {
      const Stmt& stmt = body[i - 1];
      const bool constant = stmt.kind == Stmt::Kind::declaration &&
                            stmt.type.starts_with("const ") && stmt.exprs.size() == 1 &&
                            !has_effect(stmt.exprs[0]);
      if (constant && !names_in(Body(body.begin() + static_cast<std::ptrdiff_t>(i), body.end()))
                           .contains(stmt.text)) {
        body.erase(body.begin() + static_cast<std::ptrdiff_t>(i - 1));
      }
    }
  }
};

}  // namespace

std::vector<Fact> facts_of(const Stmt& loop) {
  if (!is_counted(loop)) {
    return {};
  }
  return {
      {loop.loop.variable, loop.loop.lower, make_binary("-", end_of(loop.loop), make_number(1))}};
}

Body simplified(const Body& body, const std::vector<Fact>& facts) {
  return Simplifier().run(body, facts, {});
}

}  // namespace kernelpro
