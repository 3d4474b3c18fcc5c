#include "coordinator/rewrite/print.hpp"

#include <map>

namespace kernelpro {
namespace {

constexpr int lowest = 0;
constexpr int conditional_level = 1;
constexpr int unary_level = 12;
constexpr int postfix_level = 13;

int level_of(const std::string& operation) {
  static const std::map<std::string, int> levels = {
      {"||", 2}, {"&&", 3}, {"|", 4},  {"^", 5},  {"&", 6},  {"==", 7},
      {"!=", 7}, {"<", 8},  {">", 8},  {"<=", 8}, {">=", 8}, {"<<", 9},
      {">>", 9}, {"+", 10}, {"-", 10}, {"*", 11}, {"/", 11}, {"%", 11}};
  const auto found = levels.find(operation);
  return found == levels.end() ? lowest : found->second;
}

bool is_bitwise(int level) {
  return (level >= 4 && level <= 6) || level == 9;
}

int level_of(const Expr& expr) {
  switch (expr.kind) {
    case Expr::Kind::binary:
      return level_of(expr.text);
    case Expr::Kind::conditional:
      return conditional_level;
    case Expr::Kind::unary:
      return unary_level;
    default:
      return postfix_level;
  }
}

std::string print_at(const Expr& expr, int level);

std::string print_list(const Expr& call) {
  std::string out;
  for (std::size_t i = 1; i < call.parts.size(); ++i) {
    out += (i > 1 ? ", " : "") + print_expr(call.parts[i]);
  }
  return out;
}

// Parentheses also where only compilers' warnings want them: && in ||, arithmetic in bit operators.
std::string print_operand(const Expr& operand, int own, bool right) {
  const int inner = level_of(operand);
  const bool mixed = operand.kind == Expr::Kind::binary && inner != own &&
                     ((own == 2 && inner == 3) || is_bitwise(own) || is_bitwise(inner));
  return print_at(operand, mixed ? postfix_level : own + (right ? 1 : 0));
}

std::string print_bare(const Expr& expr) {
  switch (expr.kind) {
    case Expr::Kind::literal:
    case Expr::Kind::name:
    case Expr::Kind::verbatim:
      return expr.text;
    case Expr::Kind::subscript:
      return print_at(expr.parts[0], postfix_level) + "[" + print_expr(expr.parts[1]) + "]";
    case Expr::Kind::unary: {
      const std::string operand = print_at(expr.parts[0], unary_level);
      const bool apart = operand.starts_with(expr.text);  // - -x is not --x
      return expr.text + (apart ? " " : "") + operand;
    }
    case Expr::Kind::binary: {
      const int own = level_of(expr.text);
      return print_operand(expr.parts[0], own, false) + " " + expr.text + " " +
             print_operand(expr.parts[1], own, true);
    }
    case Expr::Kind::conditional:
      return print_at(expr.parts[0], conditional_level + 1) + " ? " + print_expr(expr.parts[1]) +
             " : " + print_at(expr.parts[2], conditional_level);
    case Expr::Kind::call:
      return print_at(expr.parts[0], postfix_level) + "(" + print_list(expr) + ")";
    case Expr::Kind::cast:
      return expr.text + "(" + print_expr(expr.parts[0]) + ")";
    case Expr::Kind::member:
      return print_at(expr.parts[0], postfix_level) + expr.text;
  }
  return expr.text;
}

std::string print_at(const Expr& expr, int level) {
  const std::string bare = print_bare(expr);
  return level_of(expr) < level ? "(" + bare + ")" : bare;
}

std::string print_list(const std::vector<Stmt>& list, int indent) {
  std::string out;
  for (const Stmt& stmt : list) {
    out += print_stmt(stmt, indent);
  }
  return out;
}

std::string print_braces(const std::vector<Stmt>& list, int indent) {
  return "{\n" + print_list(list, indent + 1) +
         std::string(static_cast<std::size_t>(indent) * 2, ' ') + "}";
}

std::string print_declaration(const Stmt& stmt) {
  std::string out =
      stmt.prefix + (stmt.prefix.empty() ? "" : " ") + stmt.type + " " + stmt.text + stmt.dims;
  if (!stmt.exprs.empty()) {
    out += " = " + print_expr(stmt.exprs[0]);
  }
  return out + ";";
}

std::string print_header(const Loop& loop) {
  if (!loop.header.empty()) {
    return loop.header;
  }
  const bool one = loop.step.kind == Expr::Kind::literal && loop.step.text == "1";
  const std::string advance =
      one ? (loop.advance == "+=" ? "++" : "--") + loop.variable
          : loop.variable + " " + loop.advance + " " + print_expr(loop.step);
  return "for (" + loop.type + " " + loop.variable + " = " + print_expr(loop.lower) + "; " +
         loop.variable + " " + loop.comparison + " " +
         print_at(loop.upper, level_of(loop.comparison) + 1) + "; " + advance + ")";
}

// An `else if` is a branch alone in the other list.
std::string print_branch(const Stmt& stmt, int indent) {
  std::string out = "if (" + print_expr(stmt.exprs[0]) + ") " + print_braces(stmt.body, indent);
  if (stmt.otherwise.empty()) {
    return out;
  }
  if (stmt.otherwise.size() == 1 && stmt.otherwise[0].kind == Stmt::Kind::branch) {
    return out + " else " + print_branch(stmt.otherwise[0], indent);
  }
  return out + " else " + print_braces(stmt.otherwise, indent);
}

}  // namespace

std::string print_expr(const Expr& expr) {
  return print_at(expr, lowest);
}

std::string print_stmt(const Stmt& stmt, int indent) {
  const std::string margin(static_cast<std::size_t>(indent) * 2, ' ');
  switch (stmt.kind) {
    case Stmt::Kind::declaration:
      return margin + print_declaration(stmt) + "\n";
    case Stmt::Kind::assignment:
      return margin + print_expr(stmt.exprs[0]) + " " + stmt.text + " " +
             print_expr(stmt.exprs[1]) + ";\n";
    case Stmt::Kind::expression:
      return margin + print_expr(stmt.exprs[0]) + ";\n";
    case Stmt::Kind::branch:
      return margin + print_branch(stmt, indent) + "\n";
    case Stmt::Kind::loop: {
      std::string out;
      for (const std::string& pragma : stmt.loop.pragmas) {
        out += pragma + "\n";
      }
      return out + margin + print_header(stmt.loop) + " " + print_braces(stmt.body, indent) + "\n";
    }
    case Stmt::Kind::block:
      return margin + print_braces(stmt.body, indent) + "\n";
    case Stmt::Kind::result:
      return margin + (stmt.exprs.empty() ? "return" : "return " + print_expr(stmt.exprs[0])) +
             ";\n";
    case Stmt::Kind::verbatim:
      break;
  }
  return margin + stmt.text + "\n";
}

std::string print_program(const Program& program) {
  std::string out = program.head;
  for (const Item& item : program.items) {
    if (item.understood) {
      out += item.function.signature + " " + print_braces(item.function.body, 0);
    } else {
      out += item.text;
    }
  }
  return out;
}

}  // namespace kernelpro
