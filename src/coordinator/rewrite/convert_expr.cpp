#include <algorithm>
#include <array>

#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/convert.hpp"
#include "coordinator/rewrite/scope.hpp"

namespace kernelpro {
namespace {

std::string slice(const std::string& text, std::size_t begin, std::size_t end) {
  return begin < end && end <= text.size() ? text.substr(begin, end - begin) : std::string();
}

// The end of a macro's use: behind its arguments when it has some.
std::size_t end_of_macro(const AstNode& node, const std::string& text) {
  const std::size_t open = skip_blanks(text, node.end);
  if (open >= text.size() || text[open] != '(') {
    return node.end;
  }
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    depth += text[at] == '(' ? 1 : 0;
    depth -= text[at] == ')' ? 1 : 0;
    if (depth == 0) {
      return at + 1;
    }
  }
  return node.end;
}

bool is_transparent(const std::string& kind) {
  static constexpr std::array<const char*, 7> kinds = {
      "ParenExpr", "ImplicitCastExpr",         "ExprWithCleanups",    "ConstantExpr",
      "FullExpr",  "MaterializeTemporaryExpr", "CXXBindTemporaryExpr"};
  return std::ranges::any_of(kinds, [&](const char* one) { return kind == one; });
}

bool is_literal(const std::string& kind) {
  static constexpr std::array<const char*, 5> kinds = {"IntegerLiteral", "FloatingLiteral",
                                                       "CXXBoolLiteralExpr", "CharacterLiteral",
                                                       "CXXNullPtrLiteralExpr"};
  return std::ranges::any_of(kinds, [&](const char* one) { return kind == one; });
}

bool is_cast(const std::string& kind) {
  static constexpr std::array<const char*, 5> kinds = {"CStyleCastExpr", "CXXStaticCastExpr",
                                                       "CXXReinterpretCastExpr", "CXXConstCastExpr",
                                                       "CXXFunctionalCastExpr"};
  return std::ranges::any_of(kinds, [&](const char* one) { return kind == one; });
}

class ExprConverter {
 public:
  ExprConverter(const AstNode& node, const std::string& text) : node_(node), text_(text) {}

  Expr convert() {
    if (is_transparent(node_.kind) && node_.inner.size() == 1) {
      return convert_expr(node_.inner[0], text_);
    }
    if (node_.begins_in_macro && node_.ends_in_macro && one_macro()) {
      return leaf(Expr::Kind::verbatim, slice(text_, node_.begin, end_of_macro(node_, text_)));
    }
    if (is_literal(node_.kind)) {
      return leaf(Expr::Kind::literal, slice(text_, node_.begin, node_.end));
    }
    if (node_.kind == "DeclRefExpr") {
      return leaf(Expr::Kind::name, slice(text_, node_.begin, node_.end));
    }
    return convert_compound();
  }

 private:
  [[nodiscard]] bool one_macro() const {
    return node_.end > node_.begin &&
           slice(text_, node_.begin, node_.end).find_first_of(" \n+-*/(),;") == std::string::npos;
  }

  [[nodiscard]] Expr leaf(Expr::Kind kind, std::string text) const {
    return {kind, std::move(text), known_type(node_), {}};
  }

  [[nodiscard]] Expr verbatim() const {
    return leaf(Expr::Kind::verbatim, slice(text_, node_.begin, node_.end));
  }

  [[nodiscard]] Expr with_parts(Expr::Kind kind, std::string text) const {
    Expr out = leaf(kind, std::move(text));
    for (const AstNode& child : node_.inner) {
      out.parts.push_back(convert_expr(child, text_));
    }
    return out;
  }

  [[nodiscard]] Expr convert_compound() const {
    const std::size_t count = node_.inner.size();
    if (node_.kind == "ArraySubscriptExpr" && count == 2) {
      return with_parts(Expr::Kind::subscript, {});
    }
    if (node_.kind == "UnaryOperator" && count == 1 && node_.opcode != "++" &&
        node_.opcode != "--" && node_.opcode.size() == 1) {
      return with_parts(Expr::Kind::unary, node_.opcode);
    }
    if (node_.kind == "BinaryOperator" && count == 2 && node_.opcode != "=" &&
        node_.opcode != "," && node_.opcode.find("->") == std::string::npos &&
        node_.opcode.find(".*") == std::string::npos && node_.opcode != "<=>") {
      return with_parts(Expr::Kind::binary, node_.opcode);
    }
    if (node_.kind == "ConditionalOperator" && count == 3) {
      return with_parts(Expr::Kind::conditional, {});
    }
    if (node_.kind == "CallExpr" && count >= 1 && !node_.begins_in_macro) {
      return call();
    }
    if (node_.kind == "CXXOperatorCallExpr" && count == 3) {
      return element();
    }
    if (node_.kind == "CXXMemberCallExpr" && count == 1 && node_.inner[0].name == "size" &&
        !contained_type(convert_expr(node_.inner[0], text_).parts[0].type).empty()) {
      return with_parts(Expr::Kind::call, {});
    }
    if (is_cast(node_.kind) && count == 1) {
      return cast();
    }
    if (node_.kind == "MemberExpr" && count == 1 && !node_.name.empty() &&
        !node_.inner[0].kind.starts_with("CXXThis")) {
      return with_parts(Expr::Kind::member, (node_.arrow ? "->" : ".") + node_.name);
    }
    return verbatim();
  }

  // A call with arguments that are not written (defaults) stays text.
  [[nodiscard]] Expr call() const {
    for (const AstNode& child : node_.inner) {
      if (child.kind == "CXXDefaultArgExpr") {
        return verbatim();
      }
    }
    return with_parts(Expr::Kind::call, {});
  }

  // values[i] of a container of numbers.
  [[nodiscard]] Expr element() const {
    Expr base = convert_expr(node_.inner[1], text_);
    std::string type = contained_type(base.type);
    if (type.empty() || !slice(text_, node_.inner[0].begin, node_.inner[0].end).starts_with("[")) {
      return verbatim();
    }
    return {Expr::Kind::subscript,
            {},
            std::move(type),
            {std::move(base), convert_expr(node_.inner[2], text_)}};
  }

  [[nodiscard]] Expr cast() const {
    std::string head = slice(text_, node_.begin, node_.inner[0].begin);
    const auto trim = [&head] {
      while (!head.empty() && (head.back() == ' ' || head.back() == '\n')) {
        head.pop_back();
      }
    };
    trim();
    if (node_.kind != "CStyleCastExpr") {
      if (!head.ends_with("(")) {
        return verbatim();
      }
      head.pop_back();
      trim();
    }
    return head.empty() ? verbatim() : with_parts(Expr::Kind::cast, head);
  }

  const AstNode& node_;
  const std::string& text_;
};

// Functions of <cmath>, <algorithm>, containers and the compiler that only compute.
bool is_pure_function(const Expr& callee) {
  if (callee.kind == Expr::Kind::member) {
    return callee.text == ".size" && !contained_type(callee.parts[0].type).empty();
  }
  std::string name = callee.kind == Expr::Kind::name ? callee.text : "";
  if (name.starts_with("std::")) {
    name = name.substr(5);
  }
  if (name.starts_with("__builtin_") && name != "__builtin_prefetch") {
    return true;
  }
  static constexpr std::array<const char*, 26> names = {
      "exp",  "exp2", "expm1", "log",   "log2", "log10", "log1p", "sqrt",  "cbrt",
      "sin",  "cos",  "tan",   "tanh",  "sinh", "cosh",  "atan",  "atan2", "pow",
      "fabs", "abs",  "fma",   "floor", "ceil", "round", "erf",   "hypot"};
  const std::string base =
      name.ends_with("f") && name != "erf" ? name.substr(0, name.size() - 1) : name;
  return base == "max" || base == "min" || base == "fmax" || base == "fmin" || base == "rsqrt" ||
         name.starts_with("kp_vector_") || name.starts_with("bit_cast<") ||
         name.starts_with("max<") || name.starts_with("min<") ||
         std::ranges::any_of(names, [&](const char* one) { return base == one; });
}

// Calls count where `calls` is set.
bool text_changes(const std::string& text, bool calls) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char before = at > 0 ? text[at - 1] : ' ';
    const char after = at + 1 < text.size() ? text[at + 1] : ' ';
    if ((calls && text[at] == '(') || ((text[at] == '+' || text[at] == '-') && after == text[at])) {
      return true;
    }
    const bool compares =
        before == '=' || before == '<' || before == '>' || before == '!' || after == '=';
    if (text[at] == '=' && !compares) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string known_type(const AstNode& node) {
  std::string written = plain_type(node.type);
  std::string meant = plain_type(node.meant_type);
  const bool known = is_integer(written) || is_floating(written);
  return !known && (is_integer(meant) || is_floating(meant)) ? meant : written;
}

Expr convert_expr(const AstNode& node, const std::string& text) {
  return ExprConverter(node, text).convert();
}

bool assigns(const Expr& expr) {
  return (expr.kind == Expr::Kind::verbatim && text_changes(expr.text, false)) ||
         std::ranges::any_of(expr.parts, assigns);
}

bool has_effect(const Expr& expr) {
  if (expr.kind == Expr::Kind::verbatim && text_changes(expr.text, true)) {
    return true;
  }
  if (expr.kind == Expr::Kind::call && !is_pure_function(expr.parts[0])) {
    return true;
  }
  return std::ranges::any_of(expr.parts, has_effect);
}

}  // namespace kernelpro
