// The headers of loops.
#include <cctype>

#include "common/base/text.hpp"
#include "coordinator/rewrite/analysis.hpp"
#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/convert.hpp"

namespace kernelpro {
namespace {

bool is_signed(const Expr& expr) {
  const std::string type = mutable_type(expr.type);
  return is_integer(type) && type.find("unsigned") == std::string::npos &&
         type.find("uint") == std::string::npos && type.find("size_t") == std::string::npos;
}

// Whether text assigns the variable: an operator of assignment stands beside its name.
bool text_assigns(const std::string& text, const std::string& variable) {
  const auto is_word = [&](std::size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (std::size_t at = text.find(variable); at != std::string::npos;
       at = text.find(variable, at + 1)) {
    const std::size_t end = at + variable.size();
    if ((at > 0 && is_word(at - 1)) || is_word(end)) {
      continue;
    }
    const std::string before(trimmed(text.substr(0, at)));
    const std::string after(trimmed(text.substr(end)));
    const bool step = before.ends_with("++") || before.ends_with("--") || after.starts_with("++") ||
                      after.starts_with("--");
    const bool plain = after.starts_with("=") && !after.starts_with("==");
    const bool compound = after.size() > 1 && after[1] == '=' &&
                          std::string("+-*/%&|^").find(after[0]) != std::string::npos;
    const bool shift = after.starts_with("<<=") || after.starts_with(">>=");
    const bool address = before.ends_with("&") && !before.ends_with("&&");
    if (step || plain || compound || shift || address) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool changes_variable(const Body& body, const std::string& variable) {
  return any_stmt(body, [&](const Stmt& stmt) {
    if (stmt.kind == Stmt::Kind::assignment) {
      return stmt.exprs[0].kind == Expr::Kind::name && stmt.exprs[0].text == variable;
    }
    if (stmt.kind == Stmt::Kind::verbatim ||
        (stmt.kind == Stmt::Kind::loop && !stmt.loop.header.empty())) {
      return text_assigns(stmt.text + stmt.loop.header, variable);
    }
    return false;
  });
}

void move_offset(Expr& left, Loop& loop) {
  if (left.kind != Expr::Kind::binary || left.text != "+" ||
      left.parts[0].kind != Expr::Kind::name || left.parts[0].text != loop.variable ||
      mentions(left.parts[1], loop.variable) || has_effect(left.parts[1]) ||
      !loop.comparison.starts_with("<")) {
    return;
  }
  const Expr offset = left.parts[1];
  Expr end = loop.comparison == "<" ? loop.upper : make_binary("+", loop.upper, make_number(1));
  const Expr rest = make_binary("-", end, offset);
  loop.upper = is_signed(left) && is_signed(loop.upper)
                   ? rest
                   : make_conditional(make_binary(">", end, offset), rest, make_number(0));
  loop.comparison = "<";
  left = Expr(left.parts[0]);
}

void accumulate(Stmt& assignment) {
  const Expr& target = assignment.exprs[0];
  const Expr& value = assignment.exprs[1];
  if (assignment.text != "=" || target.kind != Expr::Kind::name ||
      value.kind != Expr::Kind::binary || value.text != "+") {
    return;
  }
  for (const std::size_t own : {0U, 1U}) {
    const Expr other = value.parts[1 - own];
    if (value.parts[own] == target && !mentions(other, target.text)) {
      assignment = make_assignment(target, "+=", other);
      return;
    }
  }
}

}  // namespace kernelpro
