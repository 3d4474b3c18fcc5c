#include <algorithm>
#include <map>
#include <utility>

#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/jam.hpp"
#include "coordinator/rewrite/order.hpp"
#include "coordinator/rewrite/transformations.hpp"

namespace kernelpro {
namespace {

// The first loop over `variable` in the order of the text, inside `around` or at it.
bool find_loop(const Program& program, const Place& around, const std::string& variable,
               Place& found) {
  for (const Place& place : loops_of(program)) {
    const bool inside = place.item == around.item && place.path.size() >= around.path.size() &&
                        std::equal(around.path.begin(), around.path.end() - 1, place.path.begin());
    if (inside && place.path[around.path.size() - 1] >= around.path.back() &&
        stmt_at(program, place).loop.variable == variable &&
        stmt_at(program, place).loop.header.empty()) {
      found = place;
      return true;
    }
  }
  return false;
}

// How many subscripts step by one element, and how many by more, when `variable` steps by one.
struct Strides {
  int unit = 0;
  int far = 0;
};

Strides strides_of(const Body& body, const std::string& variable) {
  Strides strides;
  for_each_expr(body, [&](const Expr& expr) {
    if (expr.kind != Expr::Kind::subscript || !mentions(expr.parts[1], variable)) {
      return;
    }
    const std::optional<Expr> step = slope(expr.parts[1], variable);
    const bool unit = step && is_number(*step, 1);
    strides.unit += unit ? 1 : 0;
    strides.far += unit ? 0 : 1;
  });
  return strides;
}

// Better vector loops have more neighbors to read and carry less from round to round.
int vector_merit(const Stmt& loop) {
  const Strides strides = strides_of(loop.body, loop.loop.variable);
  return 4 * strides.unit - 2 * strides.far - static_cast<int>(carried_scalars(loop).size());
}

bool can_block(const Program& program, const Place& place, const Names& tunables) {
  const Stmt& loop = stmt_at(program, place);
  const bool lanes =
      any_stmt(loop.body, [&](const Stmt& stmt) { return is_lane_loop(stmt, tunables); });
  return is_counted(loop) && !is_lane_loop(loop, tunables) && has_loop(loop.body) && !lanes &&
         loop.loop.upper.kind != Expr::Kind::literal;
}

Result<Program> block_one(const Program& program, const Place& place, const std::string& factor) {
  Program out = program;
  Names used = names_in(out);
  JamRequest request;
  request.factor = factor;
  request.tunables = tunable_names(out);
  request.used = &used;
  const Stmt loop = stmt_at(out, place);
  KP_LET(const Body blocked, block_and_jam(loop, request));
  const bool jammed = any_stmt(blocked, [&](const Stmt& stmt) {
    return stmt.kind == Stmt::Kind::loop && !is_lane_loop(stmt, request.tunables) &&
           stmt.loop.variable != loop.loop.variable && names_in(stmt).contains(factor) &&
           !names_in(stmt.loop.step).contains(factor);
  });
  if (!jammed) {
    return make_error(ErrorKind::bad_input, "the bounds of every loop inside the loop over " +
                                                loop.loop.variable + " depend on " +
                                                loop.loop.variable);
  }
  replace_at(out, place, blocked);
  return out;
}

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    out += (out.empty() ? "" : " x ") + word;
  }
  return out;
}

}  // namespace

Result<Program> register_block(const Program& program, const std::vector<Place>& loops) {
  if (loops.empty()) {
    return make_error(ErrorKind::bad_input, "no loop to block is given");
  }
  Program out = program;
  Place outermost = loops[0];
  std::vector<std::string> variables;
  for (const Place& place : loops) {
    if (!is_counted(stmt_at(program, place))) {
      return make_error(
          ErrorKind::bad_input,
          "the loop over " + loop_label(stmt_at(program, place)) + " does not count up by one");
    }
    variables.push_back(stmt_at(program, place).loop.variable);
    outermost = place.path.size() < outermost.path.size() ? place : outermost;
  }
  for (std::size_t i = 0; i < variables.size(); ++i) {
    Place place;
    if (!find_loop(out, outermost, variables[i], place)) {
      return make_error(ErrorKind::bad_input, "the loop over " + variables[i] + " is gone");
    }
    const bool vectorized = i == 0;
    // About as many sums at once as it takes to hide how long each addition lasts.
    const std::string factor =
        vectorized ? add_tunable(out, "LANES_" + upper_case(variables[i]), {4, 8, 12, 16, 24, 32},
                                 loops.size() == 1 ? 32 : 16)
                   : add_tunable(out, "BLOCK_" + upper_case(variables[i]), {1, 2, 3, 4, 5, 6, 8},
                                 loops.size() == 2 ? 4 : 2);
    KP_LET(out, block_one(out, place, factor));
  }
  return out;
}

std::vector<Offer> offer_register_block(const Program& program) {
  std::vector<Offer> offers;
  const Names tunables = tunable_names(program);
  const auto add = [&](std::vector<Place> loops) {
    std::vector<std::string> labels;
    labels.reserve(loops.size());
    for (const Place& place : loops) {
      labels.push_back(stmt_at(program, place).loop.variable);
    }
    std::ranges::reverse(labels);
    offers.push_back(
        {site_label(program, {loops.rbegin(), loops.rend()}),
         "blocks of " + join(labels) + " in registers, vectors over " + labels.back(),
         [program, loops = std::move(loops)] { return register_block(program, loops); }});
  };
  for (const Place& innermost : innermost_loops(program)) {
    std::vector<Place> around;
    for (const Place& place : loops_around(program, innermost)) {
      if (can_block(program, place, tunables)) {
        around.push_back(place);
      }
    }
    best_first(around, [&](const Place& place) { return vector_merit(stmt_at(program, place)); });
    for (std::size_t vector = 0; vector < around.size(); ++vector) {
      for (std::size_t other = 0; other < around.size(); ++other) {
        if (other != vector) {
          add({around[vector], around[other]});
        }
      }
      if (around.size() == 1) {
        add({around[vector]});
      }
    }
    if (around.size() > 1) {
      add({around[0]});
    }
    if (around.size() > 2) {
      add({around[0], around[1], around[2]});
    }
  }
  return offers;
}

}  // namespace kernelpro
