#include <algorithm>
#include <optional>
#include <utility>

#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/jam.hpp"
#include "coordinator/rewrite/reductions.hpp"
#include "coordinator/rewrite/transformations.hpp"

namespace kernelpro {
namespace {

// One accumulator: how its parts start and how one of them is added to it.
struct Accumulator {
  std::string name;
  std::string type;
  std::string parts;
  Expr start;
  std::optional<Stmt> combine;  // in terms of `part`
};

Expr part_of(const Accumulator& one, const std::string& lane) {
  return Expr{Expr::Kind::subscript, {}, one.type, {make_name(one.parts), make_name(lane)}};
}

Stmt combination(const std::string& operation, const std::string& name, const Expr& part) {
  if (operation == "+" || operation == "*") {
    return make_assignment(make_name(name), operation + "=", part);
  }
  return make_branch(make_binary(operation == "max" ? ">" : "<", part, make_name(name)),
                     {make_assignment(make_name(name), "=", part)});
}

class Splitter {
 public:
  Splitter(const Program& program, const Place& place)
      : out_(program), place_(place), loop_(stmt_at(program, place)), used_(names_in(program)) {}

  Result<Program> run() {
    if (!is_counted(loop_)) {
      return refuse("the loop over " + loop_label(loop_) + " does not count up by one");
    }
    if (has_loop(loop_.body)) {
      return refuse("the loop over " + loop_.loop.variable + " has loops inside");
    }
    factor_ = add_tunable(out_, "PARTS_" + upper_case(loop_.loop.variable), {2, 4, 8, 16, 32}, 8);
    used_.insert(factor_);
    lane_ = fresh_name("part", used_);
    KP_TRY(collect());
    KP_LET(const Body lanes, jammed());
    replace_at(out_, place_, assembled(lanes));
    return out_;
  }

 private:
  Status collect() {
    const std::optional<BestIndex> pair = best_index_of(loop_);
    for (const std::string& name : carried_scalars(loop_)) {
      Accumulator one;
      one.name = name;
      one.type = type_in(loop_.body, name);
      one.parts = fresh_name(name + "_parts", used_);
      one.start = make_name(name);
      if (one.type.empty()) {
        return refuse("the type of " + name + " is not known");
      }
      const std::optional<std::string> operation = reduction_of(loop_, name);
      if (operation) {
        one.combine = combination(*operation, name, part_of(one, lane_));
        const bool sum = *operation == "+";
        one.start = sum || *operation == "*" ? make_number(sum ? 0 : 1) : make_name(name);
      } else if (!pair) {
        return refuse("the loop over " + loop_.loop.variable + " carries " + name +
                      " from round to round, and not as a sum, a product or an extreme");
      }
      all_.push_back(std::move(one));
    }
    if (all_.empty()) {
      return refuse("the loop over " + loop_.loop.variable + " accumulates nothing");
    }
    if (pair) {
      add_pair(*pair);
    }
    return {};
  }

  // Of equal values the one with the smaller index was found first.
  void add_pair(const BestIndex& pair) {
    const auto named = [&](const std::string& name) {
      return *std::ranges::find(all_, name, &Accumulator::name);
    };
    const Expr best = part_of(named(pair.best), lane_);
    const Expr index = part_of(named(pair.index), lane_);
    const Expr better = make_binary(pair.comparison, best, make_name(pair.best));
    const Expr first = make_binary("&&", make_binary("==", best, make_name(pair.best)),
                                   make_binary("<", index, make_name(pair.index)));
    std::ranges::find(all_, pair.best, &Accumulator::name)->combine = make_branch(
        make_binary("||", better, first), {make_assignment(make_name(pair.best), "=", best),
                                           make_assignment(make_name(pair.index), "=", index)});
  }

  [[nodiscard]] Result<Body> jammed() {
    Stmt loop = loop_;
    JamRequest request;
    request.factor = factor_;
    request.tunables = tunable_names(out_);
    request.used = &used_;
    for (const Accumulator& one : all_) {
      substitute(loop.body, one.name, make_name(one.parts, one.type));
      request.carried.insert(one.parts);
    }
    return jam(loop, request);
  }

  [[nodiscard]] Stmt over_parts(Body body) const {
    return make_loop("int", lane_, make_number(0), make_name(factor_), make_number(1),
                     std::move(body));
  }

  [[nodiscard]] Body assembled(const Body& lanes) {
    Body result;
    Body starts;
    Body combines;
    for (const Accumulator& one : all_) {
      Stmt parts = make_declaration(one.type, one.parts);
      parts.dims = "[" + factor_ + "]";
      result.push_back(std::move(parts));
      starts.push_back(make_assignment(part_of(one, lane_), "=", one.start));
      if (one.combine) {
        combines.push_back(*one.combine);
      }
    }
    result.push_back(over_parts(std::move(starts)));
    const Expr factor = make_name(factor_);
    const Expr end = end_of(loop_.loop);
    const std::string type = mutable_type(loop_.loop.type);
    const std::string rest = fresh_name(loop_.loop.variable + "_rest", used_);
    const Expr rounds = make_binary("-", end, loop_.loop.lower);
    Expr whole = make_binary("+", loop_.loop.lower,
                             make_binary("*", make_binary("/", rounds, factor), factor));
    result.push_back(make_declaration("const " + type, rest,
                                      {make_conditional(make_binary(">", end, loop_.loop.lower),
                                                        std::move(whole), loop_.loop.lower)}));
    result.push_back(make_loop(type, loop_.loop.variable, loop_.loop.lower, make_name(rest, type),
                               factor, lanes));
    Stmt remainder = loop_;
    remainder.loop.pragmas.clear();
    remainder.loop.lower = make_name(rest, type);
    result.push_back(std::move(remainder));
    result.push_back(over_parts(std::move(combines)));
    return result;
  }

  Program out_;
  Place place_;
  Stmt loop_;
  Names used_;
  std::string factor_;
  std::string lane_;
  std::vector<Accumulator> all_;
};

}  // namespace

Result<Program> split_accumulator(const Program& program, const Place& loop) {
  return Splitter(program, loop).run();
}

std::vector<Offer> offer_split_accumulator(const Program& program) {
  std::vector<Offer> offers;
  for (const Place& place : innermost_loops(program)) {
    offers.push_back({site_label(program, loops_around(program, place)),
                      "several accumulators side by side instead of one",
                      [program, place] { return split_accumulator(program, place); }});
  }
  return offers;
}

}  // namespace kernelpro
