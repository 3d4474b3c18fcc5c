#include <algorithm>
#include <utility>

#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/simplify.hpp"
#include "coordinator/rewrite/transformations.hpp"

namespace kernelpro {
namespace {

// A condition in the body that looks at the variable or at what is computed from it.
bool tests(const Body& body, const std::string& variable) {
  Names derived = {variable};
  (void)any_stmt(body, [&](const Stmt& stmt) {
    if (stmt.kind == Stmt::Kind::declaration && is_integer(stmt.type) &&
        std::ranges::any_of(stmt.exprs,
                            [&](const Expr& expr) { return mentions(names_in(expr), derived); })) {
      derived.insert(stmt.text);
    }
    return false;
  });
  const bool branches = any_stmt(body, [&](const Stmt& stmt) {
    return stmt.kind == Stmt::Kind::branch && mentions(names_in(stmt.exprs[0]), derived);
  });
  bool chooses = false;
  for_each_expr(body, [&](const Expr& expr) {
    chooses = chooses ||
              (expr.kind == Expr::Kind::conditional && mentions(names_in(expr.parts[0]), derived));
  });
  return branches || chooses;
}

// One round of the loop, if there is one.
Stmt single_round(const Stmt& loop, const std::string& name, const Expr& at, Expr condition,
                  std::vector<Fact> facts) {
  Body body = loop.body;
  substitute(body, loop.loop.variable, make_name(name, loop.loop.type));
  facts.back() = {name, at, at};
  body = simplified(body, facts);
  if (names_in(body).contains(name)) {
    body.insert(body.begin(),
                make_declaration("const " + mutable_type(loop.loop.type), name, {at}));
  }
  return make_branch(std::move(condition), std::move(body));
}

}  // namespace

Result<Program> peel(const Program& program, const Place& place) {
  const Stmt loop = stmt_at(program, place);
  if (!is_counted(loop)) {
    return make_error(ErrorKind::bad_input,
                      "the loop over " + loop_label(loop) + " does not count up by one");
  }
  if (is_opaque(loop.body)) {
    return make_error(ErrorKind::bad_input, "the loop over " + loop.loop.variable +
                                                " holds statements that are not understood");
  }
  std::vector<Fact> facts;
  for (const Place& around : loops_around(program, place)) {
    for (Fact& fact : facts_of(stmt_at(program, around))) {
      facts.push_back(std::move(fact));
    }
  }
  const Expr end = end_of(loop.loop);
  const Expr second = make_binary("+", loop.loop.lower, make_number(1));
  const Expr last = make_binary("-", end, make_number(1));
  facts.back() = {loop.loop.variable, second, make_binary("-", end, make_number(2))};
  Names used = names_in(program);
  Stmt middle = loop;
  middle.loop.lower = second;
  middle.loop.comparison = "<";
  middle.loop.upper = last;
  middle.body = simplified(loop.body, facts);
  if (middle.body == loop.body) {
    return make_error(ErrorKind::bad_input,
                      "the loop over " + loop.loop.variable +
                          " tests nothing that only its first and last rounds meet");
  }
  const std::string& v = loop.loop.variable;
  const Stmt first_round = single_round(loop, fresh_name(v + "_first", used), loop.loop.lower,
                                        make_binary("<", loop.loop.lower, end), facts);
  const Stmt last_round =
      single_round(loop, fresh_name(v + "_last", used), last, make_binary("<", second, end), facts);
  Program out = program;
  replace_at(out, place, {first_round, middle, last_round});
  return out;
}

std::vector<Offer> offer_peel(const Program& program) {
  std::vector<Offer> offers;
  for (const Place& innermost : innermost_loops(program)) {
    std::vector<Place> tested;
    for (const Place& place : loops_around(program, innermost)) {
      const Stmt& loop = stmt_at(program, place);
      if (is_counted(loop) && loop.loop.upper.kind != Expr::Kind::literal &&
          tests(loop.body, loop.loop.variable)) {
        tested.push_back(place);
      }
    }
    // Each loop makes three of what is inside it.
    constexpr std::size_t most = 2;
    if (tested.size() > most) {
      tested.erase(tested.begin(), tested.end() - most);
    }
    if (tested.size() > 1) {
      // From inside out, so that the places outside stay where they are.
      offers.push_back({site_label(program, tested), "first and last rounds of all of them cut off",
                        [program, tested]() -> Result<Program> {
                          Result<Program> out = program;
                          for (auto place = tested.rbegin(); place != tested.rend() && out;
                               ++place) {
                            out = peel(*out, *place);
                          }
                          return out;
                        }});
    }
    for (const Place& place : tested) {
      offers.push_back({site_label(program, {place}), "first and last rounds cut off",
                        [program, place] { return peel(program, place); }});
    }
  }
  return offers;
}

}  // namespace kernelpro
