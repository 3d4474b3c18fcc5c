#include <algorithm>
#include <optional>
#include <utility>

#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/convert.hpp"
#include "coordinator/rewrite/print.hpp"
#include "coordinator/rewrite/transformations.hpp"

namespace kernelpro {
namespace {

// outer { inner { body } } as inner { outer { body } }; pragmas stay with their place.
Stmt swapped(const Stmt& outer, const Stmt& inner) {
  Stmt new_inner = outer;
  new_inner.body = inner.body;
  Stmt new_outer = inner;
  new_outer.body = {new_inner};
  std::swap(new_outer.loop.pragmas, new_outer.body[0].loop.pragmas);
  return new_outer;
}

// scalar s = init; loop { ... s += ... }; target = f(s);
struct Accumulation {
  Stmt declaration;
  Stmt loop;
  Stmt store;
};

std::optional<Accumulation> accumulation_in(const Body& body) {
  if (body.size() != 3 || body[0].kind != Stmt::Kind::declaration || body[0].exprs.size() != 1 ||
      !body[0].dims.empty() || body[1].kind != Stmt::Kind::loop ||
      body[2].kind != Stmt::Kind::assignment || body[2].exprs[0].kind != Expr::Kind::subscript) {
    return std::nullopt;
  }
  return Accumulation{body[0], body[1], body[2]};
}

int count(const Expr& expr, const std::string& name) {
  int found = expr.kind == Expr::Kind::name && expr.text == name ? 1 : 0;
  for (const Expr& part : expr.parts) {
    found += count(part, name);
  }
  return found;
}

Stmt over(const Stmt& loop, Body body) {
  Stmt out = loop;
  out.loop.pragmas.clear();
  out.body = std::move(body);
  return out;
}

// Three loops: the targets set to the sum's start, the sums built in them, and what the store made
// of the sum.
Result<Body> through_output(const Stmt& outer, const Accumulation& parts) {
  const std::string& sum = parts.declaration.text;
  const Expr& target = parts.store.exprs[0];
  const std::string array = root_of(target);
  const std::string type = mutable_type(element_type(target.parts[0].type));
  if (type != mutable_type(parts.declaration.type)) {
    return refuse(sum + " has another type than the elements of " + array + ", where it is stored");
  }
  if (parts.store.text != "=" || names_in(parts.loop).contains(array) ||
      count(parts.store.exprs[1], sum) != 1 || reads({parts.store}, array)) {
    return refuse(array + ", where " + sum + " is stored, is read as well");
  }
  Body result;
  result.push_back(over(outer, {make_assignment(target, "=", parts.declaration.exprs[0])}));
  Stmt inner = parts.loop;
  substitute(inner.body, sum, target);
  Stmt swapped_loops = swapped(outer, inner);
  swapped_loops.loop.pragmas.clear();
  swapped_loops.body[0].loop.pragmas.clear();
  result.push_back(std::move(swapped_loops));
  if (parts.store.exprs[1].kind != Expr::Kind::name) {
    Stmt last = parts.store;
    substitute(last.exprs[1], sum, target);
    result.push_back(over(outer, {std::move(last)}));
  }
  return result;
}

}  // namespace

Result<Program> interchange(const Program& program, const Place& place) {
  const Stmt& outer = stmt_at(program, place);
  if (!outer.loop.header.empty()) {
    return refuse("the loop \"" + outer.loop.header + "\" has no variable and bounds to exchange");
  }
  const std::optional<Accumulation> parts = accumulation_in(outer.body);
  const bool perfect = outer.body.size() == 1 && outer.body[0].kind == Stmt::Kind::loop;
  if (!perfect && !parts) {
    return refuse("the loop over " + outer.loop.variable +
                  " holds more than a loop, and not a sum, its loop and its store");
  }
  const Stmt& inner = perfect ? outer.body[0] : parts->loop;
  if (!inner.loop.header.empty()) {
    return refuse("the loop \"" + inner.loop.header + "\" has no variable and bounds to exchange");
  }
  if (mentions(inner.loop.lower, outer.loop.variable) ||
      mentions(inner.loop.upper, outer.loop.variable) ||
      mentions(inner.loop.step, outer.loop.variable)) {
    return refuse("the bounds of the loop over " + inner.loop.variable + " depend on " +
                  outer.loop.variable);
  }
  if (is_opaque(outer.body)) {
    return refuse("the loop over " + outer.loop.variable +
                  " holds statements that are not understood");
  }
  Program out = program;
  if (perfect) {
    const Stmt result = swapped(outer, inner);
    stmt_at(out, place) = result;
    return out;
  }
  KP_LET(const Body split, through_output(outer, *parts));
  replace_at(out, place, split);
  return out;
}

std::vector<Offer> offer_interchange(const Program& program) {
  std::vector<Offer> offers;
  const Names tunables = tunable_names(program);
  std::vector<Place> loops = hot_loops(program);
  for (const Place& place : loops) {
    const Stmt& outer = stmt_at(program, place);
    const auto inner = std::ranges::find(outer.body, Stmt::Kind::loop, &Stmt::kind);
    if (inner == outer.body.end() || is_lane_loop(*inner, tunables)) {
      continue;
    }
    offers.push_back(
        {site_label(program, {place}) + ", " + loop_label(*inner),
         "the loop over " + loop_label(*inner) + " goes outside the loop over " + loop_label(outer),
         [program, place] { return interchange(program, place); }});
  }
  return offers;
}

}  // namespace kernelpro
