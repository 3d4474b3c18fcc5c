#include "coordinator/rewrite/analysis.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/convert.hpp"
#include "coordinator/rewrite/print.hpp"

namespace kernelpro {
namespace {

// Calls `visit(begin, end)` for each identifier in `text`.
template <typename Visit>
void for_each_word(const std::string& text, const Visit& visit) {
  for (std::size_t at = 0; at < text.size();) {
    if (!is_word(text[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && is_word(text[at])) {
      ++at;
    }
    if (!is_digit(text[begin])) {
      visit(begin, at);
    }
  }
}

void add_words(const std::string& text, Names& names) {
  for_each_word(text, [&](std::size_t begin, std::size_t end) {
    names.insert(text.substr(begin, end - begin));
  });
}

void add_names(const Expr& expr, Names& names) {
  if (expr.kind == Expr::Kind::name) {
    names.insert(expr.text);
  } else if (expr.kind == Expr::Kind::verbatim) {
    add_words(expr.text, names);
  }
  for (const Expr& part : expr.parts) {
    add_names(part, names);
  }
}

void add_names(const Stmt& stmt, Names& names) {
  if (stmt.kind == Stmt::Kind::declaration) {
    names.insert(stmt.text);
    add_words(stmt.dims, names);
  } else if (stmt.kind == Stmt::Kind::verbatim) {
    add_words(stmt.text, names);
  } else if (stmt.kind == Stmt::Kind::loop) {
    add_words(stmt.loop.header, names);
    if (stmt.loop.header.empty()) {
      names.insert(stmt.loop.variable);
      add_names(stmt.loop.lower, names);
      add_names(stmt.loop.upper, names);
      add_names(stmt.loop.step, names);
    }
  }
  for (const Expr& expr : stmt.exprs) {
    add_names(expr, names);
  }
  for (const Body* list : {&stmt.body, &stmt.otherwise}) {
    for (const Stmt& inner : *list) {
      add_names(inner, names);
    }
  }
}

// What unknown calls in the expression are given.
void add_given(const Expr& expr, Names& names) {
  if (expr.kind == Expr::Kind::call && has_effect(Expr{expr.kind, {}, {}, {expr.parts[0]}})) {
    for (std::size_t i = 1; i < expr.parts.size(); ++i) {
      add_names(expr.parts[i], names);
    }
  }
  if (expr.kind == Expr::Kind::verbatim && has_effect(expr)) {
    add_words(expr.text, names);
  }
  for (const Expr& part : expr.parts) {
    add_given(part, names);
  }
}

void add_written(const Stmt& stmt, Names& names) {
  if (stmt.kind == Stmt::Kind::assignment) {
    const std::string root = root_of(stmt.exprs[0]);
    if (root.empty()) {
      add_names(stmt.exprs[0], names);
    } else {
      names.insert(root);
    }
  } else if (stmt.kind == Stmt::Kind::verbatim) {
    add_words(stmt.text, names);
  } else if (stmt.kind == Stmt::Kind::loop) {
    add_words(stmt.loop.header, names);
  }
  for (const Expr& expr : stmt.exprs) {
    add_given(expr, names);
  }
  for (const Body* list : {&stmt.body, &stmt.otherwise}) {
    for (const Stmt& inner : *list) {
      add_written(inner, names);
    }
  }
}

void substitute_text(std::string& text, const std::string& name, const Expr& value) {
  std::string out;
  std::size_t copied = 0;
  for_each_word(text, [&](std::size_t begin, std::size_t end) {
    if (text.compare(begin, end - begin, name) == 0) {
      out += text.substr(copied, begin - copied);
      out += value.parts.empty() ? print_expr(value) : "(" + print_expr(value) + ")";
      copied = end;
    }
  });
  text = out + text.substr(copied);
}

bool expr_reads(const Expr& expr, const std::string& array) {
  return mentions(expr, array);
}

// The index of an element that is only assigned to may read, the element itself is not read.
bool target_reads(const Expr& target, const std::string& array) {
  if (target.kind == Expr::Kind::subscript) {
    return target_reads(target.parts[0], array) || expr_reads(target.parts[1], array);
  }
  return target.kind != Expr::Kind::name && expr_reads(target, array);
}

}  // namespace

Names names_in(const Expr& expr) {
  Names names;
  add_names(expr, names);
  return names;
}

Names names_in(const Stmt& stmt) {
  Names names;
  add_names(stmt, names);
  return names;
}

Names names_in(const Body& body) {
  Names names;
  for (const Stmt& stmt : body) {
    add_names(stmt, names);
  }
  return names;
}

bool mentions(const Names& names, const Names& any_of) {
  return std::ranges::any_of(any_of, [&](const std::string& name) { return names.contains(name); });
}

bool mentions(const Expr& expr, const std::string& name) {
  return names_in(expr).contains(name);
}

Names declared_in(const Body& body) {
  Names names;
  (void)any_stmt(body, [&](const Stmt& stmt) {
    if (stmt.kind == Stmt::Kind::declaration) {
      names.insert(stmt.text);
    } else if (stmt.kind == Stmt::Kind::loop && stmt.loop.header.empty()) {
      names.insert(stmt.loop.variable);
    }
    return false;
  });
  return names;
}

Names written_in(const Body& body) {
  Names names;
  for (const Stmt& stmt : body) {
    add_written(stmt, names);
  }
  return names;
}

std::string root_of(const Expr& expr) {
  switch (expr.kind) {
    case Expr::Kind::name:
      return expr.text;
    case Expr::Kind::subscript:
    case Expr::Kind::member:
      return root_of(expr.parts[0]);
    default:
      return "";
  }
}

bool reads(const Body& body, const std::string& array) {
  return any_stmt(body, [&](const Stmt& stmt) {
    if (stmt.kind == Stmt::Kind::verbatim) {
      return names_in(stmt).contains(array);
    }
    if (stmt.kind == Stmt::Kind::loop) {
      return stmt.loop.header.empty()
                 ? expr_reads(stmt.loop.lower, array) || expr_reads(stmt.loop.upper, array)
                 : names_in(Expr{Expr::Kind::verbatim, stmt.loop.header, {}, {}}).contains(array);
    }
    if (stmt.kind == Stmt::Kind::assignment) {
      const bool target =
          stmt.text == "=" ? target_reads(stmt.exprs[0], array) : expr_reads(stmt.exprs[0], array);
      return target || expr_reads(stmt.exprs[1], array);
    }
    return std::ranges::any_of(stmt.exprs, [&](const Expr& e) { return expr_reads(e, array); });
  });
}

bool any_stmt(const Body& body, const std::function<bool(const Stmt&)>& matches) {
  return std::ranges::any_of(body, [&](const Stmt& stmt) {
    return matches(stmt) || any_stmt(stmt.body, matches) || any_stmt(stmt.otherwise, matches);
  });
}

bool has_loop(const Body& body) {
  return any_stmt(body, [](const Stmt& stmt) { return stmt.kind == Stmt::Kind::loop; });
}

bool is_opaque(const Body& body) {
  return any_stmt(body, [](const Stmt& stmt) {
    return stmt.kind == Stmt::Kind::verbatim || stmt.kind == Stmt::Kind::result ||
           (stmt.kind == Stmt::Kind::loop && !stmt.loop.header.empty());
  });
}

bool has_effects(const Body& body) {
  return is_opaque(body) || any_stmt(body, [](const Stmt& stmt) {
           return std::ranges::any_of(stmt.exprs, has_effect);
         });
}

void for_each_expr(Expr& expr, const std::function<void(Expr&)>& visit) {
  for (Expr& part : expr.parts) {
    for_each_expr(part, visit);
  }
  visit(expr);
}

void for_each_expr(Body& body, const std::function<void(Expr&)>& visit) {
  for (Stmt& stmt : body) {
    for (Expr& expr : stmt.exprs) {
      for_each_expr(expr, visit);
    }
    if (stmt.kind == Stmt::Kind::loop) {
      for_each_expr(stmt.loop.lower, visit);
      for_each_expr(stmt.loop.upper, visit);
      for_each_expr(stmt.loop.step, visit);
    }
    for_each_expr(stmt.body, visit);
    for_each_expr(stmt.otherwise, visit);
  }
}

void for_each_expr(const Body& body, const std::function<void(const Expr&)>& visit) {
  Body copy = body;
  for_each_expr(copy, [&](Expr& expr) { visit(expr); });
}

void substitute(Expr& expr, const std::string& name, const Expr& value) {
  if (expr.kind == Expr::Kind::name) {
    if (expr.text == name) {
      expr = value;
    }
    return;
  }
  if (expr.kind == Expr::Kind::verbatim) {
    substitute_text(expr.text, name, value);
    return;
  }
  for (Expr& part : expr.parts) {
    substitute(part, name, value);
  }
  if (expr.kind == Expr::Kind::subscript) {
    expr = make_subscript(std::move(expr.parts[0]), std::move(expr.parts[1]));
  }
}

void substitute(Stmt& stmt, const std::string& name, const Expr& value) {
  for (Expr& expr : stmt.exprs) {
    substitute(expr, name, value);
  }
  if (stmt.kind == Stmt::Kind::verbatim) {
    substitute_text(stmt.text, name, value);
  } else if (stmt.kind == Stmt::Kind::declaration) {
    substitute_text(stmt.dims, name, value);
  } else if (stmt.kind == Stmt::Kind::loop) {
    substitute_text(stmt.loop.header, name, value);
    for (std::string& pragma : stmt.loop.pragmas) {
      substitute_text(pragma, name, value);
    }
    substitute(stmt.loop.lower, name, value);
    substitute(stmt.loop.upper, name, value);
    substitute(stmt.loop.step, name, value);
  }
  substitute(stmt.body, name, value);
  substitute(stmt.otherwise, name, value);
}

void substitute(Body& body, const std::string& name, const Expr& value) {
  for (Stmt& stmt : body) {
    substitute(stmt, name, value);
  }
}

}  // namespace kernelpro
