#include "coordinator/rewrite/jam.hpp"

#include <algorithm>
#include <utility>

#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/convert.hpp"
#include "coordinator/rewrite/places.hpp"
#include "coordinator/rewrite/transformations.hpp"

namespace kernelpro {
namespace {

// The names that differ from lane to lane: the loop's variable and what is computed from it.
class Varying {
 public:
  Varying(const Body& body, const std::string& variable, const Names& carried)
      : declared_(declared_in(body)), names_(carried) {
    names_.insert(variable);
    declared_.insert(carried.begin(), carried.end());
    for (std::size_t before = 0; before != names_.size();) {
      before = names_.size();
      visit(body, false);
    }
  }

  [[nodiscard]] bool in(const Expr& expr) const { return mentions(names_in(expr), names_); }
  [[nodiscard]] bool in(const Stmt& stmt) const { return mentions(names_in(stmt), names_); }
  [[nodiscard]] const Names& names() const { return names_; }

 private:
  void visit(const Body& body, bool conditional) {
    for (const Stmt& stmt : body) {
      const bool varies =
          conditional || std::ranges::any_of(stmt.exprs, [&](const Expr& e) { return in(e); });
      if (stmt.kind == Stmt::Kind::declaration && varies) {
        names_.insert(stmt.text);
      } else if (stmt.kind == Stmt::Kind::assignment && varies) {
        const std::string root = root_of(stmt.exprs[0]);
        if (declared_.contains(root)) {
          names_.insert(root);
        }
      }
      bool inside = conditional || (stmt.kind == Stmt::Kind::branch && varies);
      if (stmt.kind == Stmt::Kind::loop &&
          (in(stmt.loop.lower) || in(stmt.loop.upper) || in(stmt.loop.step))) {
        names_.insert(stmt.loop.variable);
        inside = true;
      }
      visit(stmt.body, inside);
      visit(stmt.otherwise, inside);
    }
  }

  Names declared_;
  Names names_;
};

// A run of statements of one list: all of them for each lane, or one that all lanes share.
struct Segment {
  bool lanes = false;
  Body stmts;
};

class Jammer {
 public:
  Jammer(const Stmt& loop, const JamRequest& request)
      : loop_(loop),
        request_(request),
        varying_(loop.body, loop.loop.variable, request.carried),
        declared_(declared_in(loop.body)),
        lane_(fresh_name(loop.loop.variable + "_lane", *request.used)) {}

  Result<Body> run() {
    for (const std::string& name : request_.carried) {
      expanded_.insert(name);
    }
    KP_TRY(check());
    return jam_list(loop_.body);
  }

 private:
  [[nodiscard]] Status check() const {
    if (has_effects(loop_.body)) {
      return refuse("the loop over " + loop_.loop.variable +
                    " holds statements or calls that are not understood");
    }
    return {};
  }

  // Written at the same place in every round: a variable, or elements that do not depend on it.
  [[nodiscard]] bool writes_shared(const Stmt& stmt, const Names& local) const {
    return stmt.kind == Stmt::Kind::assignment && !local.contains(root_of(stmt.exprs[0])) &&
           !varying_.in(stmt.exprs[0]);
  }

  [[nodiscard]] Names carried() const {
    Names names;
    (void)any_stmt(loop_.body, [&](const Stmt& stmt) {
      if (writes_shared(stmt, declared_)) {
        names.insert(root_of(stmt.exprs[0]));
      }
      return false;
    });
    return names;
  }

  // Loops that go on around the lanes; anything else is done lane by lane.
  [[nodiscard]] bool is_shared_loop(const Stmt& stmt) const {
    return stmt.kind == Stmt::Kind::loop && !is_lane_loop(stmt, request_.tunables) &&
           stmt.loop.header.empty() && !varying_.in(stmt.loop.lower) &&
           !varying_.in(stmt.loop.upper) && !varying_.in(stmt.loop.step);
  }

  [[nodiscard]] bool has_shared_loop(const Body& body) const {
    return any_stmt(body, [&](const Stmt& stmt) { return is_shared_loop(stmt); });
  }

  [[nodiscard]] bool is_entered(const Stmt& stmt) const {
    if (is_shared_loop(stmt)) {
      return true;
    }
    const bool branch = stmt.kind == Stmt::Kind::branch && !varying_.in(stmt.exprs[0]);
    return (branch || stmt.kind == Stmt::Kind::block) &&
           (has_shared_loop(stmt.body) || has_shared_loop(stmt.otherwise));
  }

  // Done once for all lanes: declarations and assignments of what does not vary.
  [[nodiscard]] bool is_common(const Stmt& stmt) const {
    if (varying_.in(stmt)) {
      return false;
    }
    return stmt.kind == Stmt::Kind::declaration ||
           (stmt.kind == Stmt::Kind::assignment && declared_.contains(root_of(stmt.exprs[0])));
  }

  [[nodiscard]] std::vector<Segment> segments_of(const Body& list) const {
    std::vector<Segment> segments;
    for (const Stmt& stmt : list) {
      const bool after_lanes = !segments.empty() && segments.back().lanes;
      if (is_entered(stmt)) {
        segments.push_back({false, {stmt}});
      } else if (is_common(stmt)) {
        const bool independent = stmt.kind == Stmt::Kind::declaration && after_lanes &&
                                 !mentions(names_in(stmt), written_in(segments.back().stmts));
        segments.insert(independent ? segments.end() - 1 : segments.end(), {false, {stmt}});
      } else if (after_lanes) {
        segments.back().stmts.push_back(stmt);
      } else {
        segments.push_back({true, {stmt}});
      }
    }
    return segments;
  }

  // What the loop carries from round to round must be touched in one segment only: lanes do a
  // segment in the order of the rounds, but one segment after the other.
  [[nodiscard]] Status check_carried(const std::vector<Segment>& segments) const {
    for (const std::string& name : carried()) {
      const auto touched = std::ranges::count_if(
          segments, [&](const Segment& segment) { return names_in(segment.stmts).contains(name); });
      if (touched > 1) {
        return refuse("the loop over " + loop_.loop.variable + " carries " + name +
                      " from round to round");
      }
    }
    return {};
  }

  Result<Body> jam_list(const Body& list) {
    std::vector<Segment> segments = segments_of(list);
    KP_TRY(check_carried(segments));
    Body out;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      if (segments[i].lanes) {
        Names later;
        for (std::size_t after = i + 1; after < segments.size(); ++after) {
          later.merge(names_in(segments[after].stmts));
        }
        add_lanes(segments[i].stmts, later, out);
        continue;
      }
      Stmt stmt = segments[i].stmts[0];
      if (is_entered(stmt)) {
        for (Body* inner : {&stmt.body, &stmt.otherwise}) {
          KP_LET(*inner, jam_list(*inner));
        }
      }
      out.push_back(std::move(stmt));
    }
    return out;
  }

  void add_lanes(const Body& stmts, const Names& later, Body& out) {
    const std::vector<Body> groups = with_choices(stmts);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      Names needed = later;
      for (std::size_t after = i + 1; after < groups.size(); ++after) {
        needed.merge(names_in(groups[after]));
      }
      add_group(groups[i], needed, out);
    }
  }

  // What is needed later of the variables declared here becomes an array over the lanes.
  void add_group(const Body& stmts, const Names& later, Body& out) {
    Body inside;
    for (const Stmt& stmt : stmts) {
      if (stmt.kind != Stmt::Kind::declaration || !later.contains(stmt.text)) {
        inside.push_back(stmt);
        continue;
      }
      Stmt array = make_declaration(mutable_type(stmt.type), stmt.text);
      array.dims = "[" + request_.factor + "]" + stmt.dims;
      expanded_.insert(stmt.text);
      if (!stmt.exprs.empty() && !stmt.dims.empty()) {
        array.exprs = {Expr{Expr::Kind::verbatim, "{}", {}, {}}};
      } else if (!stmt.exprs.empty()) {
        inside.push_back(make_assignment(make_name(stmt.text), "=", stmt.exprs[0]));
      }
      out.push_back(std::move(array));
    }
    if (inside.empty()) {
      return;
    }
    const bool simd = can_be_simd(inside);
    Expr variable = make_name(loop_.loop.variable, loop_.loop.type);
    const Expr lane = make_name(lane_, loop_.loop.type);
    substitute(inside, loop_.loop.variable, make_binary("+", std::move(variable), lane));
    for (const std::string& name : expanded_) {
      substitute(inside, name, Expr{Expr::Kind::subscript, {}, {}, {make_name(name), lane}});
    }
    out.push_back(make_loop(mutable_type(loop_.loop.type), lane_, make_number(0),
                            make_name(request_.factor), make_number(1), std::move(inside)));
    if (simd) {
      out.back().loop.pragmas = {"#pragma omp simd"};
    }
  }

  // Reads no memory but what every lane has of its own, so it may be computed in any case.
  static bool is_safe(const Expr& expr) {
    const bool load = expr.kind == Expr::Kind::subscript || expr.kind == Expr::Kind::verbatim ||
                      (expr.kind == Expr::Kind::unary && expr.text == "*");
    return !load && expr.text != "/" && expr.text != "%" &&
           std::ranges::all_of(expr.parts, is_safe);
  }

  // The comparison reads it in any case.
  static bool is_operand(const Expr& comparison, const Expr& value) {
    return comparison.kind == Expr::Kind::binary && comparison.text != "&&" &&
           comparison.text != "||" &&
           std::ranges::find(comparison.parts, value) != comparison.parts.end();
  }

  [[nodiscard]] bool is_choice(const Stmt& stmt) const {
    if (stmt.kind != Stmt::Kind::branch || !stmt.otherwise.empty() || stmt.body.empty()) {
      return false;
    }
    Names targets;
    Names values;
    for (const Stmt& one : stmt.body) {
      if (one.kind != Stmt::Kind::assignment || one.text != "=" ||
          one.exprs[0].kind != Expr::Kind::name || !expanded_.contains(one.exprs[0].text) ||
          (!is_safe(one.exprs[1]) && !is_operand(stmt.exprs[0], one.exprs[1]))) {
        return false;
      }
      values.merge(names_in(one.exprs[1]));
      targets.insert(one.exprs[0].text);
    }
    const Names tested = names_in(stmt.exprs[0]);
    const auto both = std::ranges::count_if(
        targets, [&](const std::string& name) { return tested.contains(name); });
    return targets.size() == stmt.body.size() && !mentions(values, targets) && both <= 1;
  }

  // if (a < b) { b = a; x = y; } as x = a < b ? y : x, then b = a < b ? a : b, each in a loop of
  // its own: so compilers vectorize it.
  [[nodiscard]] std::vector<Body> with_choices(const Body& stmts) const {
    std::vector<Body> groups(1);
    for (const Stmt& stmt : stmts) {
      if (!is_choice(stmt)) {
        groups.back().push_back(stmt);
        continue;
      }
      Body choices;
      for (const Stmt& one : stmt.body) {
        Stmt choice = make_assignment(one.exprs[0], "=",
                                      make_conditional(stmt.exprs[0], one.exprs[1], one.exprs[0]));
        const bool last = mentions(stmt.exprs[0], one.exprs[0].text);
        choices.insert(last ? choices.end() : choices.begin(), std::move(choice));
      }
      if (choices.size() == 1) {
        groups.back().push_back(choices[0]);
        continue;
      }
      for (Stmt& choice : choices) {
        groups.push_back({std::move(choice)});
      }
      groups.emplace_back();
    }
    return groups;
  }

  // No loops inside, and nothing written that lanes share.
  [[nodiscard]] bool can_be_simd(const Body& stmts) const {
    if (has_loop(stmts)) {
      return false;
    }
    Names local = declared_in(stmts);
    local.insert(expanded_.begin(), expanded_.end());
    return !any_stmt(stmts, [&](const Stmt& stmt) { return writes_shared(stmt, local); });
  }

  const Stmt& loop_;
  const JamRequest& request_;
  Varying varying_;
  Names declared_;
  std::string lane_;
  Names expanded_;
};

}  // namespace

Result<Body> jam(const Stmt& loop, const JamRequest& request) {
  return Jammer(loop, request).run();
}

Names varying_names(const Stmt& loop) {
  return Varying(loop.body, loop.loop.variable, {}).names();
}

Names carried_scalars(const Stmt& loop) {
  const Names declared = declared_in(loop.body);
  Names carried;
  (void)any_stmt(loop.body, [&](const Stmt& stmt) {
    if (stmt.kind == Stmt::Kind::assignment && stmt.exprs[0].kind == Expr::Kind::name &&
        !declared.contains(stmt.exprs[0].text)) {
      carried.insert(stmt.exprs[0].text);
    }
    return false;
  });
  return carried;
}

bool is_repeatable(const Stmt& loop) {
  if (has_effects(loop.body) || !carried_scalars(loop).empty()) {
    return false;
  }
  Names own = declared_in(loop.body);
  // A pointer may be declared inside, but what it points to lies outside.
  (void)any_stmt(loop.body, [&](const Stmt& stmt) {
    if (stmt.kind == Stmt::Kind::declaration &&
        stmt.type.find_first_of("*&") != std::string::npos) {
      own.erase(stmt.text);
    }
    return false;
  });
  return std::ranges::all_of(written_in(loop.body), [&](const std::string& name) {
    return own.contains(name) || !reads(loop.body, name);
  });
}

Result<Body> block_and_jam(const Stmt& loop, const JamRequest& request) {
  KP_LET(Body body, jam(loop, request));
  const Expr factor = make_name(request.factor);
  const Expr end = end_of(loop.loop);
  const std::string type = mutable_type(loop.loop.type);
  if (is_repeatable(loop)) {
    const std::string block = fresh_name(loop.loop.variable + "_block", *request.used);
    const Expr last = make_binary("-", end, factor);
    const Expr at = make_name(block, type);
    body.insert(body.begin(),
                make_declaration("const " + type, loop.loop.variable,
                                 {make_conditional(make_binary("<", at, last), at, last)}));
    Stmt blocked = make_loop(type, block, loop.loop.lower, end, factor, std::move(body));
    blocked.loop.pragmas = loop.loop.pragmas;
    Expr enough = make_binary(">=", end, make_binary("+", loop.loop.lower, factor));
    return Body{make_branch(std::move(enough), {std::move(blocked)}, {loop})};
  }
  const std::string rest = fresh_name(loop.loop.variable + "_rest", *request.used);
  const Expr rounds = make_binary("-", end, loop.loop.lower);
  Expr whole =
      make_binary("+", loop.loop.lower, make_binary("*", make_binary("/", rounds, factor), factor));
  Stmt start = make_declaration("const " + type, rest,
                                {make_conditional(make_binary(">", end, loop.loop.lower),
                                                  std::move(whole), loop.loop.lower)});
  Stmt blocked = make_loop(type, loop.loop.variable, loop.loop.lower, make_name(rest, type), factor,
                           std::move(body));
  blocked.loop.pragmas = loop.loop.pragmas;
  Stmt remainder = loop;
  remainder.loop.lower = make_name(rest, type);
  return Body{std::move(start), std::move(blocked), std::move(remainder)};
}

}  // namespace kernelpro
