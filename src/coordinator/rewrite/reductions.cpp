#include "coordinator/rewrite/reductions.hpp"

#include <algorithm>

#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/jam.hpp"
#include "coordinator/rewrite/places.hpp"

namespace kernelpro {
namespace {

std::string compared_with(const Expr& condition, const std::string& name) {
  if (condition.kind != Expr::Kind::binary || condition.text.size() > 2 ||
      condition.parts.size() != 2) {
    return "";
  }
  const bool less = condition.text.starts_with("<");
  const bool greater = condition.text.starts_with(">");
  const bool left = condition.parts[0].kind == Expr::Kind::name && condition.parts[0].text == name;
  const bool right = condition.parts[1].kind == Expr::Kind::name && condition.parts[1].text == name;
  if ((!less && !greater) || left == right) {
    return "";
  }
  return less == left ? "max" : "min";
}

// if (x > m) { m = x; }
std::string branch_operation(const Stmt& stmt, const std::string& name) {
  const bool plain = stmt.kind == Stmt::Kind::branch && stmt.otherwise.empty() &&
                     stmt.body.size() == 1 && stmt.body[0].kind == Stmt::Kind::assignment &&
                     stmt.body[0].text == "=" && root_of(stmt.body[0].exprs[0]) == name &&
                     !mentions(stmt.body[0].exprs[1], name);
  return plain ? compared_with(stmt.exprs[0], name) : "";
}

// m = x > m ? x : m, m = std::max(m, x)
std::string choice_operation(const Expr& value, const std::string& name) {
  const auto is_it = [&](const Expr& expr) {
    return expr.kind == Expr::Kind::name && expr.text == name;
  };
  if (value.kind == Expr::Kind::conditional) {
    const std::string found = compared_with(value.parts[0], name);
    if (found.empty() || is_it(value.parts[1]) == is_it(value.parts[2])) {
      return "";
    }
    const std::string other = found == "max" ? "min" : "max";
    return is_it(value.parts[2]) ? found : other;
  }
  if (value.kind == Expr::Kind::call && value.parts.size() == 3 &&
      (is_it(value.parts[1]) || is_it(value.parts[2]))) {
    const std::string& callee = value.parts[0].text;
    if (callee.find("max") != std::string::npos) {
      return "max";
    }
    return callee.find("min") != std::string::npos ? "min" : "";
  }
  return "";
}

// The reduction a statement does on the variable: "+", "*", "max", "min"; empty when it is none.
std::string operation_of(const Stmt& stmt, const std::string& name) {
  if (stmt.kind == Stmt::Kind::branch) {
    return branch_operation(stmt, name);
  }
  if (stmt.kind != Stmt::Kind::assignment || root_of(stmt.exprs[0]) != name) {
    return "";
  }
  if (stmt.text == "=") {
    return choice_operation(stmt.exprs[1], name);
  }
  if (mentions(stmt.exprs[1], name)) {
    return "";
  }
  if (stmt.text == "+=" || stmt.text == "-=") {
    return "+";
  }
  return stmt.text == "*=" ? "*" : "";
}

// Adds each reduction on the variable; false when it is touched in another way.
bool collect_operations(const Body& body, const std::string& name, Names& operations) {
  for (const Stmt& stmt : body) {
    if (!names_in(stmt).contains(name)) {
      continue;
    }
    const std::string operation = operation_of(stmt, name);
    if (!operation.empty()) {
      operations.insert(operation);
      continue;
    }
    const bool outside =
        std::ranges::none_of(stmt.exprs, [&](const Expr& e) { return mentions(e, name); });
    const bool enters = stmt.kind == Stmt::Kind::loop || stmt.kind == Stmt::Kind::block ||
                        stmt.kind == Stmt::Kind::branch;
    if (!enters || !outside || !collect_operations(stmt.body, name, operations) ||
        !collect_operations(stmt.otherwise, name, operations)) {
      return false;
    }
  }
  return true;
}

// The value of an index grows from round to round.
bool grows(const Expr& value, const std::string& variable) {
  const std::optional<Expr> step = slope(value, variable);
  return step && is_number(*step, 1);
}

// The array in array[index] += x where the index is read from memory; empty for anything else.
std::string table_added_to(const Stmt& stmt) {
  if (stmt.kind != Stmt::Kind::assignment || stmt.text != "+=" ||
      stmt.exprs[0].kind != Expr::Kind::subscript ||
      stmt.exprs[0].parts[0].kind != Expr::Kind::name ||
      !(is_integer(stmt.exprs[0].type) || is_floating(stmt.exprs[0].type))) {
    return "";
  }
  bool from_memory = false;
  Expr index = stmt.exprs[0].parts[1];
  for_each_expr(index, [&](const Expr& expr) {
    from_memory = from_memory || expr.kind == Expr::Kind::subscript;
  });
  return from_memory ? stmt.exprs[0].parts[0].text : "";
}

// for (v = 0; v < extent; ++v) { array[v] = 0; }
std::optional<Expr> extent_of_loop(const Stmt& stmt, const std::string& array) {
  const bool clears = is_counted(stmt) && is_number(stmt.loop.lower, 0) && stmt.body.size() == 1 &&
                      stmt.body[0].kind == Stmt::Kind::assignment && stmt.body[0].text == "=" &&
                      stmt.body[0].exprs[0].kind == Expr::Kind::subscript &&
                      stmt.body[0].exprs[0].parts[0].text == array &&
                      stmt.body[0].exprs[0].parts[1].text == stmt.loop.variable;
  return clears ? std::optional(end_of(stmt.loop)) : std::nullopt;
}

// memset(array, 0, extent * sizeof(int))
std::optional<Expr> extent_of_memset(const Stmt& stmt, const std::string& array) {
  if (stmt.kind != Stmt::Kind::expression || stmt.exprs[0].parts.size() != 4) {
    return std::nullopt;
  }
  const std::vector<Expr>& call = stmt.exprs[0].parts;
  if (!call[0].text.ends_with("memset") || call[1].text != array || !is_number(call[2], 0) ||
      call[3].kind != Expr::Kind::binary || call[3].text != "*") {
    return std::nullopt;
  }
  const bool behind = call[3].parts[0].text.starts_with("sizeof");
  return behind || call[3].parts[1].text.starts_with("sizeof")
             ? std::optional(call[3].parts[behind ? 1 : 0])
             : std::nullopt;
}

}  // namespace

std::optional<std::string> reduction_of(const Stmt& loop, const std::string& name) {
  Names operations;
  if (!collect_operations(loop.body, name, operations) || operations.size() != 1) {
    return std::nullopt;
  }
  return *operations.begin();
}

Names tables_of(const Stmt& loop) {
  Names tables;
  Names others;
  (void)any_stmt(loop.body, [&](const Stmt& stmt) {
    const std::string table = table_added_to(stmt);
    Names touched = names_in({Expr::Kind::verbatim, stmt.text + stmt.loop.header, {}, {}});
    for (const Expr& expr : {stmt.loop.lower, stmt.loop.upper, stmt.loop.step}) {
      touched.merge(names_in(expr));
    }
    for (std::size_t i = 0; i < stmt.exprs.size(); ++i) {
      const bool target = i == 0 && !table.empty();
      touched.merge(names_in(target ? stmt.exprs[0].parts[1] : stmt.exprs[i]));
    }
    tables.insert(table);
    others.merge(touched);
    return false;
  });
  std::erase_if(tables,
                [&](const std::string& name) { return name.empty() || others.contains(name); });
  return tables;
}

std::optional<Expr> cleared_extent(const Body& body, const std::string& array) {
  std::optional<Expr> extent;
  (void)any_stmt(body, [&](const Stmt& stmt) {
    extent =
        stmt.kind == Stmt::Kind::loop ? extent_of_loop(stmt, array) : extent_of_memset(stmt, array);
    return extent.has_value();
  });
  return extent;
}

void choose_extremes(Stmt& loop) {
  const Names carried = carried_scalars(loop);
  for (Stmt& stmt : loop.body) {
    for (const std::string& name : carried) {
      if (stmt.kind == Stmt::Kind::branch && !branch_operation(stmt, name).empty()) {
        const Stmt assignment = stmt.body[0];
        stmt = make_assignment(
            assignment.exprs[0], "=",
            make_conditional(stmt.exprs[0], assignment.exprs[1], assignment.exprs[0]));
      }
    }
  }
}

std::optional<BestIndex> best_index_of(const Stmt& loop) {
  const Names carried = carried_scalars(loop);
  if (carried.size() != 2) {
    return std::nullopt;
  }
  std::optional<BestIndex> found;
  int touched = 0;
  for (const Stmt& stmt : loop.body) {
    if (!mentions(names_in(stmt), carried)) {
      continue;
    }
    ++touched;
    if (stmt.kind != Stmt::Kind::branch || !stmt.otherwise.empty() || stmt.body.size() != 2) {
      return std::nullopt;
    }
    for (std::size_t i = 0; i < 2; ++i) {
      const Stmt& best = stmt.body[i];
      const Stmt& index = stmt.body[1 - i];
      if (best.kind != Stmt::Kind::assignment || index.kind != Stmt::Kind::assignment ||
          best.text != "=" || index.text != "=" || best.exprs[0].kind != Expr::Kind::name) {
        continue;
      }
      const std::string way = compared_with(stmt.exprs[0], best.exprs[0].text);
      if (!way.empty() && stmt.exprs[0].text.size() == 1 &&
          grows(index.exprs[1], loop.loop.variable) &&
          !mentions(names_in(best.exprs[1]), carried)) {
        found = BestIndex{best.exprs[0].text, root_of(index.exprs[0]), way == "min" ? "<" : ">"};
      }
    }
  }
  return touched == 1 ? found : std::nullopt;
}

std::string type_in(const Body& body, const std::string& name) {
  std::string type;
  for_each_expr(body, [&](const Expr& expr) {
    if (expr.kind == Expr::Kind::name && expr.text == name && !expr.type.empty()) {
      type = mutable_type(expr.type);
    }
  });
  return type;
}

}  // namespace kernelpro
