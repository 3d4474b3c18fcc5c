// The transformations that only write pragmas: parallel, limit_threads, simd, unroll, omp_tile.
#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <utility>

#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/jam.hpp"
#include "coordinator/rewrite/order.hpp"
#include "coordinator/rewrite/print.hpp"
#include "coordinator/rewrite/reductions.hpp"
#include "coordinator/rewrite/transformations.hpp"

namespace kernelpro {
namespace {

bool has_pragma(const Stmt& loop, const std::string& word) {
  return std::ranges::any_of(loop.loop.pragmas, [&](const std::string& line) {
    return line.find(word) != std::string::npos;
  });
}

bool is_parallel(const Program& program, const Place& place) {
  const Stmt& own = stmt_at(program, place);
  return std::ranges::any_of(loops_around(program, place),
                             [&](const Place& around) {
                               return has_pragma(stmt_at(program, around), "parallel");
                             }) ||
         any_stmt(own.body, [](const Stmt& stmt) {
           return (stmt.kind == Stmt::Kind::loop && has_pragma(stmt, "parallel")) ||
                  stmt.text.find("omp parallel") != std::string::npos;
         });
}

// " reduction(+ : sum)" for what the loop carries; an error when it carries something else.
Result<std::string> reduction_clauses(const Stmt& loop) {
  std::map<std::string, std::string> lists;
  for (const std::string& name : carried_scalars(loop)) {
    const std::optional<std::string> operation = reduction_of(loop, name);
    if (!operation) {
      return refuse("the loop over " + loop_label(loop) + " carries " + name +
                    " from round to round, and not as a sum, a product, a largest or a smallest");
    }
    std::string& list = lists[*operation];
    list += (list.empty() ? "" : ", ") + name;
  }
  std::string clauses;
  for (const auto& [operation, list] : lists) {
    clauses += " reduction(" + operation + " : " + list + ")";
  }
  return clauses;
}

// Elements written at a place that does not depend on the loop.
std::optional<std::string> shared_array(const Stmt& loop) {
  const Names declared = declared_in(loop.body);
  const Names varying = varying_names(loop);
  std::optional<std::string> shared;
  (void)any_stmt(loop.body, [&](const Stmt& stmt) {
    if (stmt.kind == Stmt::Kind::assignment && stmt.exprs[0].kind == Expr::Kind::subscript) {
      const std::string root = root_of(stmt.exprs[0]);
      if (!declared.contains(root) && !mentions(names_in(stmt.exprs[0]), varying)) {
        shared = root;
      }
    }
    return shared.has_value();
  });
  return shared;
}

bool leaves(const Stmt& loop) {
  return any_stmt(loop.body, [](const Stmt& stmt) {
    return stmt.kind == Stmt::Kind::result ||
           (stmt.kind == Stmt::Kind::verbatim &&
            (stmt.text.starts_with("break") || stmt.text.find("return") != std::string::npos ||
             stmt.text.find("goto") != std::string::npos));
  });
}

// An index with the values of the loop's own declarations in it.
Expr with_locals(Expr index, const Body& body) {
  for (const Stmt& stmt : std::ranges::reverse_view(body)) {
    if (stmt.kind == Stmt::Kind::declaration && !stmt.exprs.empty()) {
      substitute(index, stmt.text, stmt.exprs[0]);
    }
  }
  return index;
}

// Whether each round has elements of its own: an index goes up with the variable, step by step.
bool is_apart(const Expr& target, const Stmt& loop) {
  if (target.kind != Expr::Kind::subscript) {
    return false;
  }
  const std::optional<Expr> step =
      slope(with_locals(target.parts[1], loop.body), loop.loop.variable);
  return (step && step->text != "0") || is_apart(target.parts[0], loop);
}

// An array that one round may read where another one writes: a table that is counted up.
std::optional<std::string> met_array(const Stmt& loop) {
  const Names declared = declared_in(loop.body);
  std::optional<std::string> met;
  (void)any_stmt(loop.body, [&](const Stmt& stmt) {
    if (stmt.kind != Stmt::Kind::assignment || stmt.exprs[0].kind != Expr::Kind::subscript) {
      return false;
    }
    const std::string root = root_of(stmt.exprs[0]);
    const bool read = stmt.text != "=" || reads(loop.body, root);
    if (read && !declared.contains(root) && !is_apart(stmt.exprs[0], loop)) {
      met = root;
    }
    return met.has_value();
  });
  return met;
}

Status check_shareable(const Stmt& loop) {
  if (has_pragma(loop, "unroll") || has_pragma(loop, "omp tile")) {
    return refuse("the loop over " + loop_label(loop) +
                  " has a pragma that OpenMP allows no other before");
  }
  if (!loop.loop.header.empty()) {
    return refuse("the loop \"" + loop.loop.header +
                  "\" has no count that is known when it starts");
  }
  if (leaves(loop)) {
    return refuse("the loop over " + loop.loop.variable + " can be left early");
  }
  if (const std::optional<std::string> shared = shared_array(loop)) {
    return refuse("every round of the loop over " + loop.loop.variable +
                  " writes the same elements of " + *shared);
  }
  return {};
}

bool is_perfect(const Stmt& loop) {
  return loop.body.size() == 1 && loop.body[0].kind == Stmt::Kind::loop &&
         loop.body[0].loop.header.empty();
}

// The bounds of `inner` depend on none of the variables.
bool is_rectangular(const Names& variables, const Stmt& inner) {
  Names bounds = names_in(inner.loop.lower);
  bounds.merge(names_in(inner.loop.upper));
  bounds.merge(names_in(inner.loop.step));
  return !mentions(bounds, variables);
}

}  // namespace

std::vector<Place> perfect_band(const Program& program, const Place& outer) {
  std::vector<Place> band = {outer};
  Names variables = {stmt_at(program, outer).loop.variable};
  while (is_perfect(stmt_at(program, band.back())) &&
         is_rectangular(variables, stmt_at(program, band.back()).body[0])) {
    variables.insert(stmt_at(program, band.back()).body[0].loop.variable);
    Place next = band.back();
    next.path.insert(next.path.end(), {0, 0});
    band.push_back(std::move(next));
  }
  return band;
}

Result<Program> parallel(const Program& program, const ParallelSite& site) {
  const Stmt& loop = stmt_at(program, site.loop);
  KP_TRY(check_shareable(loop));
  if (is_parallel(program, site.loop)) {
    return refuse("the loop over " + loop.loop.variable +
                  " is parallel already, or lies around or inside one that is");
  }
  KP_LET(std::string clauses, reduction_clauses(loop));
  for (const std::string& table : tables_of(loop)) {
    const auto extent = cleared_extent(program.items[site.loop.item].function.body, table);
    if (extent) {
      clauses += " reduction(+ : " + table + "[:" + print_expr(*extent) + "])";
    }
  }
  if (site.collapse && perfect_band(program, site.loop).size() < 2) {
    return refuse("the loop over " + loop.loop.variable +
                  " has no loop perfectly inside it to collapse with");
  }
  Program out = program;
  std::vector<std::string>& pragmas = stmt_at(out, site.loop).loop.pragmas;
  const auto vectors = std::ranges::find_if(
      pragmas, [](const std::string& line) { return line.find("omp simd") != std::string::npos; });
  const bool with_vectors = vectors != pragmas.end();
  if (with_vectors) {
    pragmas.erase(vectors);
  }
  pragmas.insert(pragmas.begin(), "#pragma omp parallel for" +
                                      std::string(with_vectors ? " simd" : "") +
                                      (site.collapse ? " collapse(2)" : "") + " schedule(" +
                                      site.schedule + ")" + clauses);
  return out;
}

// Applies `one` wherever it can be; the first reason when it can nowhere. The places must not move.
Result<Program> everywhere(
    const Program& program, const std::vector<Place>& places,
    const std::function<Result<Program>(const Program&, const Place&)>& one) {
  Program out = program;
  std::optional<Error> reason;
  bool any = false;
  for (const Place& place : places) {
    Result<Program> changed = one(out, place);
    if (changed) {
      out = std::move(*changed);
      any = true;
    } else if (!reason) {
      reason = changed.error();
    }
  }
  if (!any) {
    return reason ? *reason : refuse("there are no loops");
  }
  return out;
}

std::vector<Offer> offer_parallel(const Program& program, const Arguments& arguments) {
  std::vector<std::string> schedules = {"static", "dynamic"};
  if (const auto wanted = arguments.find("schedule"); wanted != arguments.end()) {
    schedules = {wanted->second};
  }
  std::vector<ParallelSite> sites;
  std::vector<Place> loops = hot_loops(program);
  best_first(loops, [](const Place& place) { return -static_cast<int>(place.path.size()); });
  sites.reserve(loops.size());
  for (const Place& place : loops) {
    sites.push_back({place, schedules[0], false});
  }
  for (const Place& place : loops) {
    if (perfect_band(program, place).size() > 1) {
      sites.push_back({place, schedules[0], true});
    }
    if (schedules.size() > 1) {
      sites.push_back({place, schedules[1], false});
    }
  }
  std::vector<Offer> offers;
  if (loops.size() > 1) {
    // Outer loops come first, and what lies inside a parallel one is refused.
    offers.push_back(
        {"all outermost loops", "rounds shared among threads, " + schedules[0] + " schedule",
         [program, loops, schedule = schedules[0]] {
           return everywhere(program, loops, [&](const Program& now, const Place& place) {
             return parallel(now, {place, schedule, false});
           });
         }});
  }
  for (const ParallelSite& site : sites) {
    const std::string what = site.collapse ? ", collapsed with the loop inside it" : "";
    offers.push_back({site_label(program, {site.loop}),
                      "rounds shared among threads, " + site.schedule + " schedule" + what,
                      [program, site] { return parallel(program, site); }});
  }
  return offers;
}

Result<Program> limit_threads(const Program& program, const Place& place) {
  const Stmt& loop = stmt_at(program, place);
  if (!has_pragma(loop, "omp parallel")) {
    return refuse("the loop over " + loop_label(loop) + " is not shared among threads");
  }
  if (has_pragma(loop, "num_threads")) {
    return refuse("the loop over " + loop_label(loop) + " has a limit already");
  }
  Program out = program;
  add_include(out, "omp.h");
  const std::string share = add_tunable(out, "THREAD_SHARE", {1, 2, 3, 4, 8}, 2);
  for (std::string& line : stmt_at(out, place).loop.pragmas) {
    if (line.find("omp parallel") != std::string::npos) {
      line += " num_threads((omp_get_max_threads() + " + share + " - 1) / " + share + ")";
    }
  }
  return out;
}

std::vector<Offer> offer_limit_threads(const Program& program) {
  std::vector<Offer> offers;
  for (const Place& place : hot_loops(program)) {
    offers.push_back({site_label(program, {place}), "as few threads as pay",
                      [program, place] { return limit_threads(program, place); }});
  }
  return offers;
}

Result<Program> simd(const Program& program, const Place& place) {
  const Stmt& loop = stmt_at(program, place);
  KP_TRY(check_shareable(loop));
  if (has_pragma(loop, "simd")) {
    return refuse("the loop over " + loop.loop.variable + " has the pragma already");
  }
  if (has_loop(loop.body)) {
    return refuse("the loop over " + loop.loop.variable + " has loops inside");
  }
  if (const std::optional<std::string> met = met_array(loop)) {
    return refuse("two rounds of the loop over " + loop.loop.variable +
                  " may meet at one element of " + *met);
  }
  KP_LET(const std::string clauses, reduction_clauses(loop));
  Program out = program;
  choose_extremes(stmt_at(out, place));
  std::vector<std::string>& pragmas = stmt_at(out, place).loop.pragmas;
  const bool threads = has_pragma(loop, "parallel for");
  if (threads) {
    std::string& line = *std::ranges::find_if(pragmas, [](const std::string& one) {
      return one.find("parallel for") != std::string::npos;
    });
    line.insert(line.find("parallel for") + 12, " simd");
  } else {
    pragmas.push_back("#pragma omp simd" + clauses);
  }
  return out;
}

std::vector<Offer> offer_simd(const Program& program) {
  std::vector<Offer> offers;
  const std::vector<Place> loops = innermost_loops(program);
  if (loops.size() > 1) {
    offers.push_back({"all innermost loops", "vector instructions asked for",
                      [program, loops] { return everywhere(program, loops, simd); }});
  }
  for (const Place& place : loops) {
    offers.push_back({site_label(program, loops_around(program, place)),
                      "vector instructions asked for",
                      [program, place] { return simd(program, place); }});
  }
  return offers;
}

Result<Program> unroll(const Program& program, const Place& place, bool clang) {
  const Stmt& loop = stmt_at(program, place);
  if (has_pragma(loop, "unroll")) {
    return refuse("the loop over " + loop_label(loop) + " has such a pragma already");
  }
  if (has_pragma(loop, "omp")) {
    return refuse("the loop over " + loop_label(loop) +
                  " has an OpenMP pragma, which must stand directly before it");
  }
  Program out = program;
  const std::string factor = add_tunable(out, "UNROLL", {2, 4, 8, 16}, 4);
  stmt_at(out, place)
      .loop.pragmas.push_back(clang ? "#pragma clang loop unroll_count(" + factor + ")"
                                    : "#pragma GCC unroll " + factor);
  return out;
}

std::vector<Offer> offer_unroll(const Program& program, const Arguments& arguments) {
  const auto compiler = arguments.find("compiler");
  const bool clang =
      compiler != arguments.end() && compiler->second.find("clang") != std::string::npos;
  std::vector<Offer> offers;
  for (const Place& place : innermost_loops(program)) {
    offers.push_back({site_label(program, loops_around(program, place)),
                      clang ? "unrolling asked of clang" : "unrolling asked of GCC",
                      [program, place, clang] { return unroll(program, place, clang); }});
  }
  return offers;
}

Result<Program> omp_tile(const Program& program, const Place& outer) {
  const std::vector<Place> band = perfect_band(program, outer);
  if (band.size() < 2) {
    return refuse("the loop over " + loop_label(stmt_at(program, outer)) +
                  " has no loop perfectly inside it");
  }
  if (std::ranges::any_of(band, [&](const Place& place) {
        return !stmt_at(program, place).loop.pragmas.empty();
      })) {
    return refuse("the loop over " + loop_label(stmt_at(program, outer)) +
                  " or one inside it has pragmas already");
  }
  Program out = program;
  std::string sizes;
  for (const Place& place : band) {
    sizes += (sizes.empty() ? "" : ", ") +
             add_tunable(out, "TILE_" + upper_case(stmt_at(program, place).loop.variable),
                         {8, 16, 32, 64, 128}, 32);
  }
  stmt_at(out, outer).loop.pragmas.push_back("#pragma omp tile sizes(" + sizes + ")");
  return out;
}

std::vector<Offer> offer_omp_tile(const Program& program) {
  std::vector<Offer> offers;
  for (const Place& place : hot_loops(program)) {
    offers.push_back({site_label(program, perfect_band(program, place)), "tiles asked of clang",
                      [program, place] { return omp_tile(program, place); }});
  }
  return offers;
}

}  // namespace kernelpro
