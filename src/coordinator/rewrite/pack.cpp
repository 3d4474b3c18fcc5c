#include <algorithm>
#include <functional>
#include <optional>
#include <ranges>
#include <utility>

#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/convert.hpp"
#include "coordinator/rewrite/order.hpp"
#include "coordinator/rewrite/print.hpp"
#include "coordinator/rewrite/scratch.hpp"
#include "coordinator/rewrite/transformations.hpp"

namespace kernelpro {
namespace {

using KnownInOrder = std::vector<std::pair<std::string, Expr>>;

// What surrounds an expression: loops, settled conditions, the values of constants.
struct Around {
  std::vector<Loop> loops;
  std::vector<Expr> guards;
  KnownInOrder known;
  bool sure = true;  // false under a condition or in a loop that is not understood
};

// A read of the array, with the loops its place depends on.
struct Access {
  Expr index;               // in terms of what is known outside and of `loops`
  std::vector<Loop> loops;  // loops over lanes last
  std::vector<Expr> guards;
};

Expr resolved(Expr expr, const KnownInOrder& known) {
  for (const auto& [name, value] : std::views::reverse(known)) {
    substitute(expr, name, value);
  }
  return expr;
}

bool is_constant(const Stmt& stmt) {
  return stmt.kind == Stmt::Kind::declaration && stmt.type.starts_with("const ") &&
         stmt.exprs.size() == 1 && is_integer(stmt.type) && !has_effect(stmt.exprs[0]);
}

// Calls `visit` for every expression below, with what surrounds it.
void walk(Body& body, Around around, const std::function<void(Expr&, const Around&)>& visit) {
  for (Stmt& stmt : body) {
    for (Expr& expr : stmt.exprs) {
      for_each_expr(expr, [&](Expr& part) { visit(part, around); });
    }
    if (is_constant(stmt)) {
      around.known.emplace_back(stmt.text, resolved(stmt.exprs[0], around.known));
    } else if (stmt.kind == Stmt::Kind::loop) {
      Around inner = around;
      Loop loop = stmt.loop;
      loop.lower = resolved(loop.lower, around.known);
      loop.upper = resolved(loop.upper, around.known);
      inner.sure = around.sure && loop.header.empty();
      inner.loops.push_back(std::move(loop));
      walk(stmt.body, std::move(inner), visit);
    } else if (stmt.kind == Stmt::Kind::branch) {
      const Expr condition = resolved(stmt.exprs[0], around.known);
      Around inner = around;
      inner.guards.push_back(condition);
      walk(stmt.body, inner, visit);
      inner.guards.back() = Expr{Expr::Kind::unary, "!", "bool", {condition}};
      walk(stmt.otherwise, std::move(inner), visit);
    } else {
      walk(stmt.body, around, visit);
    }
  }
}

bool is_read_of(const Expr& expr, const std::string& array) {
  return expr.kind == Expr::Kind::subscript && expr.parts[0].kind == Expr::Kind::name &&
         expr.parts[0].text == array;
}

bool is_lane(const Loop& loop, const Names& tunables) {
  Stmt stmt;
  stmt.kind = Stmt::Kind::loop;
  stmt.loop = loop;
  return is_lane_loop(stmt, tunables);
}

Access access_of(const Expr& read, const Around& around, const Names& tunables) {
  Access access{resolved(read.parts[1], around.known), {}, around.guards};
  const Names names = names_in(access.index);
  for (const bool lanes : {false, true}) {
    for (const Loop& loop : around.loops) {
      if (is_lane(loop, tunables) == lanes && names.contains(loop.variable)) {
        access.loops.push_back(loop);
      }
    }
  }
  return access;
}

// The same for accesses of the same elements in the same order, whatever their loops are called.
std::string panel_of(const Access& access) {
  Expr index = access.index;
  std::string panel;
  for (std::size_t i = 0; i < access.loops.size(); ++i) {
    const Loop& loop = access.loops[i];
    substitute(index, loop.variable, make_name("#" + std::to_string(i)));
    panel += print_expr(loop.lower) + loop.comparison + print_expr(loop.upper) + loop.advance +
             print_expr(loop.step) + ";";
  }
  return panel + print_expr(index);
}

// Why what the loop reads there cannot be copied before it; empty when it can.
std::string obstacle(const Access& access, const Stmt& reuse, const std::string& array, bool sure) {
  Names inside = declared_in(reuse.body);
  inside.insert(reuse.loop.variable);
  const std::string before = "before the loop over " + loop_label(reuse);
  if (mentions(access.index, reuse.loop.variable)) {
    return "the loop over " + loop_label(reuse) + " reads other elements of " + array +
           " in every round";
  }
  const bool settled = std::ranges::none_of(
      access.guards, [&](const Expr& guard) { return mentions(names_in(guard), inside); });
  if (!sure || !settled) {
    return array + " is read under a condition that is not known " + before;
  }
  Names left = names_in(access.index);
  for (const Loop& loop : access.loops) {
    left.erase(loop.variable);
    if (mentions(names_in(loop.lower), inside) || mentions(names_in(loop.upper), inside) ||
        loop.comparison != "<" || loop.advance != "+=") {
      return "the bounds of the loop over " + loop.variable + " are not known " + before;
    }
  }
  if (access.loops.empty() || mentions(left, inside)) {
    return "the place of " + array + " that is read is not known " + before;
  }
  return "";
}

// The reads of the array in the loop that can be packed, each panel once.
struct Found {
  std::vector<Access> accesses;
  std::string reason;  // why another one cannot
};

Found find_accesses(const Stmt& reuse, const std::string& array, const Names& tunables) {
  Found found;
  Names panels;
  Body body = reuse.body;
  walk(body, {}, [&](Expr& expr, const Around& around) {
    if (!is_read_of(expr, array)) {
      return;
    }
    Access access = access_of(expr, around, tunables);
    const std::string why = obstacle(access, reuse, array, around.sure);
    if (!why.empty()) {
      found.reason = why;
    } else if (panels.insert(panel_of(access)).second) {
      found.accesses.push_back(std::move(access));
    }
  });
  return found;
}

// How many rounds the loop has at most, and which round this is.
Expr rounds_of(const Loop& loop) {
  const Expr extent = make_binary("-", loop.upper, loop.lower);
  return is_number(loop.step, 1)
             ? extent
             : make_binary("/",
                           make_binary("-", make_binary("+", extent, loop.step), make_number(1)),
                           loop.step);
}

Expr round_of(const Loop& loop) {
  const Expr at = make_binary("-", make_name(loop.variable, loop.type), loop.lower);
  return make_binary("/", at, loop.step);
}

Expr packed_index(const Access& access) {
  Expr index = round_of(access.loops[0]);
  for (std::size_t i = 1; i < access.loops.size(); ++i) {
    index = make_binary("+", make_binary("*", index, rounds_of(access.loops[i])),
                        round_of(access.loops[i]));
  }
  return index;
}

// Never below zero: a loop may have no rounds at all.
Expr buffer_size(const Access& access) {
  std::optional<Expr> size;
  std::optional<Expr> nonempty;
  for (const Loop& loop : access.loops) {
    const Expr rounds = rounds_of(loop);
    size = size ? make_binary("*", *size, rounds) : rounds;
    if (!is_number(loop.lower, 0) || loop.upper.kind != Expr::Kind::name) {
      const Expr some = make_binary("<", loop.lower, loop.upper);
      nonempty = nonempty ? make_binary("&&", *nonempty, some) : some;
    }
  }
  return nonempty ? make_conditional(*nonempty, *size, make_number(0)) : *size;
}

Stmt copy_loops(const Access& access, const std::string& array, const std::string& buffer) {
  const auto element = [](const std::string& name, const Expr& index) {
    return Expr{Expr::Kind::subscript, {}, {}, {make_name(name), index}};
  };
  Body body = {
      make_assignment(element(buffer, packed_index(access)), "=", element(array, access.index))};
  for (const Loop& loop : std::views::reverse(access.loops)) {
    body = {make_loop(mutable_type(loop.type), loop.variable, loop.lower, loop.upper, loop.step,
                      std::move(body))};
  }
  for (const Expr& guard : std::views::reverse(access.guards)) {
    body = {make_branch(guard, std::move(body))};
  }
  return body[0];
}

// Reads of the same panel take it from the buffer.
void redirect(Body& body, const std::string& array, const Access& packed, const std::string& buffer,
              const Names& tunables) {
  const std::string panel = panel_of(packed);
  walk(body, {}, [&](Expr& expr, const Around& around) {
    if (!is_read_of(expr, array)) {
      return;
    }
    const Access access = access_of(expr, around, tunables);
    const bool filled = std::ranges::all_of(packed.guards, [&](const Expr& guard) {
      return std::ranges::find(access.guards, guard) != access.guards.end();
    });
    if (filled && panel_of(access) == panel) {
      expr = Expr{Expr::Kind::subscript, {}, expr.type, {make_name(buffer), packed_index(access)}};
    }
  });
}

// The first statement of the list, up to `last`, before which everything the copy needs is there.
std::size_t earliest(const Body& list, std::size_t last, const Access& access,
                     const std::string& array) {
  Names needed = names_in(access.index);
  for (const Loop& loop : access.loops) {
    needed.merge(names_in(loop.lower));
    needed.merge(names_in(loop.upper));
    needed.erase(loop.variable);
  }
  for (const Expr& guard : access.guards) {
    needed.merge(names_in(guard));
  }
  needed.insert(array);
  std::size_t at = last;
  while (at > 0) {
    const Body before = {list[at - 1]};
    if (mentions(needed, written_in(before)) ||
        (list[at - 1].kind == Stmt::Kind::declaration && needed.contains(list[at - 1].text))) {
      break;
    }
    --at;
  }
  return at;
}

std::string type_of(const Body& body, const std::string& array) {
  std::string type;
  for_each_expr(body, [&](const Expr& expr) {
    if (expr.kind == Expr::Kind::subscript && expr.parts[0].kind == Expr::Kind::name &&
        expr.parts[0].text == array) {
      type = element_type(expr.parts[0].type);
    }
  });
  return type.starts_with("const ") ? type.substr(6) : type;
}

// Arrays from outside the loop that have not been packed already.
Names arrays_read(const Stmt& loop) {
  Names arrays;
  for_each_expr(loop.body, [&](const Expr& expr) {
    if (expr.kind == Expr::Kind::subscript && expr.parts[0].kind == Expr::Kind::name &&
        expr.parts[0].text.find("_packed") == std::string::npos) {
      arrays.insert(expr.parts[0].text);
    }
  });
  for (const std::string& name : declared_in(loop.body)) {
    arrays.erase(name);
  }
  return arrays;
}

// Panels that vectors run over come first, small ones before large ones.
int merit_of(const Stmt& reuse, const std::string& array, const Names& tunables) {
  int best = -1000;
  for (const Access& access : find_accesses(reuse, array, tunables).accesses) {
    int merit = 0;
    for (const Loop& loop : access.loops) {
      const int lanes = loop.pragmas.empty() ? 20 : 100;
      merit += is_lane(loop, tunables) ? lanes : -5;
    }
    best = std::max(best, merit);
  }
  return best;
}

}  // namespace

Result<Program> pack(const Program& program, const PackSite& site) {
  const Stmt& reuse = stmt_at(program, site.reuse);
  if (written_in(reuse.body).contains(site.array)) {
    return refuse(site.array + " is written in the loop over " + loop_label(reuse));
  }
  const std::string type = type_of(reuse.body, site.array);
  if (!is_floating(type) && !is_integer(type)) {
    return refuse("the elements of " + site.array + " are not plain numbers");
  }
  const Names tunables = tunable_names(program);
  const Found found = find_accesses(reuse, site.array, tunables);
  if (found.accesses.empty()) {
    return refuse(found.reason.empty() ? site.array + " is not read there" : found.reason);
  }
  Program out = program;
  Names used = names_in(program);
  const std::string owner = fresh_name(site.array + "_owner", used);
  const std::string buffer = fresh_name(site.array + "_packed", used);
  const Access& access = *std::ranges::max_element(
      found.accesses, {}, [](const Access& one) { return one.loops.size(); });
  const Body memory = make_scratch(out, {owner, buffer, type, buffer_size(access)});
  Body& list = list_at(out, site.reuse);
  const std::size_t at = earliest(list, site.reuse.path.back(), access, site.array);
  const auto split = list.begin() + static_cast<std::ptrdiff_t>(at);
  Body behind(split, list.end());
  list.erase(split, list.end());
  redirect(behind, site.array, access, buffer, tunables);
  list.insert(list.end(), memory.begin(), memory.end());
  list.push_back(copy_loops(access, site.array, buffer));
  list.insert(list.end(), behind.begin(), behind.end());
  return out;
}

std::vector<Offer> offer_pack(const Program& program) {
  std::vector<std::pair<int, Offer>> ranked;
  const Names tunables = tunable_names(program);
  for (const Place& place : hot_loops(program)) {
    const Stmt& reuse = stmt_at(program, place);
    if (!has_loop(reuse.body)) {
      continue;
    }
    for (const std::string& array : arrays_read(reuse)) {
      const PackSite site{place, array};
      ranked.emplace_back(merit_of(reuse, array, tunables) - (is_alternative(place) ? 1000 : 0),
                          Offer{site_label(program, {place}) + ", array " + array,
                                "what the loop over " + loop_label(reuse) + " reads of " + array +
                                    " copied together in front of it",
                                [program, site] { return pack(program, site); }});
    }
  }
  best_first(ranked, [](const auto& one) { return one.first; });
  std::vector<Offer> offers;
  offers.reserve(ranked.size());
  for (auto& [merit, offer] : ranked) {
    offers.push_back(std::move(offer));
  }
  return offers;
}

}  // namespace kernelpro
