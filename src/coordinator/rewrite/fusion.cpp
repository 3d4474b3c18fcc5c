#include <algorithm>
#include <optional>
#include <utility>

#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/convert.hpp"
#include "coordinator/rewrite/jam.hpp"
#include "coordinator/rewrite/print.hpp"
#include "coordinator/rewrite/transformations.hpp"

namespace kernelpro {
namespace {

// Where the body touches the array, as text.
Names places_of(const Body& body, const std::string& array) {
  Names places;
  for_each_expr(body, [&](const Expr& expr) {
    if (expr.kind == Expr::Kind::subscript && root_of(expr) == array) {
      places.insert(print_expr(expr));
    }
  });
  return places;
}

// Why the second loop must not start before the first has ended; empty when it may.
std::string conflict(const Stmt& first, const Stmt& second) {
  Names written = written_in(first.body);
  written.merge(written_in(second.body));
  const Names local = declared_in(first.body);
  const Names in_first = names_in(first.body);
  const Names in_second = names_in(second.body);
  for (const std::string& name : written) {
    if (local.contains(name) || !in_first.contains(name) || !in_second.contains(name)) {
      continue;
    }
    Names places = places_of(first.body, name);
    places.merge(places_of(second.body, name));
    const bool moves =
        places.size() == 1 && places.begin()->find(first.loop.variable) != std::string::npos;
    if (!moves) {
      return "the second loop over " + first.loop.variable + " needs " + name +
             " as the first leaves it at its end";
    }
  }
  return "";
}

bool has_reduction(const Stmt& loop) {
  return std::ranges::any_of(loop.loop.pragmas, [](const std::string& line) {
    return line.find("reduction") != std::string::npos;
  });
}

}  // namespace

Result<Program> fusion(const Program& program, const Place& place) {
  const Stmt first = stmt_at(program, place);
  const Body& list = list_at(program, place);
  const auto begin = list.begin() + static_cast<std::ptrdiff_t>(place.path.back()) + 1;
  const auto next = std::find_if(
      begin, list.end(), [](const Stmt& stmt) { return stmt.kind != Stmt::Kind::declaration; });
  if (next == list.end() || next->kind != Stmt::Kind::loop) {
    return refuse("no loop follows the loop over " + loop_label(first));
  }
  Stmt second = *next;
  const bool same = first.loop.header.empty() && second.loop.header.empty() &&
                    print_expr(first.loop.lower) == print_expr(second.loop.lower) &&
                    print_expr(first.loop.upper) == print_expr(second.loop.upper) &&
                    first.loop.comparison == second.loop.comparison &&
                    first.loop.advance == second.loop.advance &&
                    print_expr(first.loop.step) == print_expr(second.loop.step);
  if (!same) {
    return refuse("the loop over " + loop_label(first) + " and the next one have different bounds");
  }
  if (first.loop.pragmas != second.loop.pragmas || has_reduction(first)) {
    return refuse("the loop over " + loop_label(first) +
                  " and the next one have pragmas that do not fit together");
  }
  const Names made = written_in(first.body);
  const Body between(begin, next);
  if (mentions(names_in(between), made)) {
    return refuse("what stands between the loop over " + loop_label(first) +
                  " and the next one needs its results");
  }
  Names used = names_in(program);
  const Names taken = declared_in(first.body);
  for (const std::string& name : declared_in(second.body)) {
    if (taken.contains(name)) {
      return refuse("both loops declare " + name);
    }
  }
  substitute(second.body, second.loop.variable, make_name(first.loop.variable, first.loop.type));
  if (is_opaque(first.body) || is_opaque(second.body)) {
    return refuse("the loop over " + loop_label(first) +
                  " or the next one holds statements that are not understood");
  }
  if (const std::string why = conflict(first, second); !why.empty()) {
    return refuse(why);
  }
  Stmt fused = first;
  fused.body.insert(fused.body.end(), second.body.begin(), second.body.end());
  Program out = program;
  Body& changed = list_at(out, place);
  const auto from = changed.begin() + static_cast<std::ptrdiff_t>(place.path.back());
  const auto at = changed.erase(from, from + static_cast<std::ptrdiff_t>(between.size()) + 2);
  Body replacement = between;
  replacement.push_back(std::move(fused));
  changed.insert(at, replacement.begin(), replacement.end());
  return out;
}

std::vector<Offer> offer_fusion(const Program& program) {
  std::vector<Offer> offers;
  for (const Place& place : hot_loops(program)) {
    offers.push_back({site_label(program, {place}) + " and the next", "two loops made one",
                      [program, place] { return fusion(program, place); }});
  }
  return offers;
}

}  // namespace kernelpro
