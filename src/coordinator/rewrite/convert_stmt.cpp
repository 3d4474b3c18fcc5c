#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <utility>

#include "common/base/text.hpp"
#include "coordinator/rewrite/analysis.hpp"
#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/convert.hpp"
#include "coordinator/rewrite/scope.hpp"

namespace kernelpro {
namespace {

bool is_comparison(const std::string& operation) {
  static constexpr std::array<const char*, 4> all = {"<", "<=", ">", ">="};
  return std::ranges::any_of(all, [&](const char* one) { return operation == one; });
}

class StmtConverter {
 public:
  explicit StmtConverter(const std::string& text) : text_(text) {}

  // Statements of `list`, the first of which may stand anywhere behind `from`.
  Body convert_list(const std::vector<AstNode>& list, std::size_t from) {
    Body out;
    for (const AstNode& child : list) {
      append(child, from, out);
      from = std::max(from, end_of(child));
    }
    return out;
  }

 private:
  [[nodiscard]] std::string slice(std::size_t begin, std::size_t end) const {
    return begin < end && end <= text_.size() ? text_.substr(begin, end - begin) : "";
  }

  // Behind the statement's semicolon.
  [[nodiscard]] std::size_t end_of(const AstNode& node) const {
    std::size_t end = node.end;
    if (node.ends_in_macro) {
      const std::size_t open = skip_blanks(text_, end);
      if (open < text_.size() && text_[open] == '(') {
        end = std::min(text_.find(';', open), text_.size() - 1);
      }
    }
    const std::size_t next = skip_blanks(text_, end);
    return next < text_.size() && text_[next] == ';' ? next + 1 : end;
  }

  [[nodiscard]] Stmt verbatim(const AstNode& node) const {
    Stmt stmt;
    stmt.text = slice(node.begin, end_of(node));
    return stmt;
  }

  void append(const AstNode& node, std::size_t from, Body& out) {
    if (node.kind == "AttributedStmt" && !node.inner.empty()) {
      append(node.inner.back(), from, out);
      return;
    }
    const std::vector<std::string> pragmas = directives_in(slice(from, node.begin));
    const bool loop = node.kind == "ForStmt" || node.kind == "WhileStmt";
    if (!pragmas.empty() && !loop) {
      Stmt stmt = verbatim(node);
      std::string lines;
      for (const std::string& pragma : pragmas) {
        lines += pragma + "\n";
      }
      stmt.text = "\n" + lines + stmt.text;
      out.push_back(std::move(stmt));
      return;
    }
    Body converted = convert(node);
    if (loop) {
      converted.back().loop.pragmas = pragmas;
    }
    out.insert(out.end(), converted.begin(), converted.end());
  }

  Body convert(const AstNode& node) {
    if (node.kind == "NullStmt") {
      return {};
    }
    if (node.begins_in_macro) {
      return {verbatim(node)};
    }
    if (node.kind == "CompoundStmt") {
      Stmt block;
      block.kind = Stmt::Kind::block;
      block.body = convert_list(node.inner, node.begin + 1);
      return {block};
    }
    if (node.kind == "DeclStmt") {
      return declarations(node);
    }
    if (node.kind == "IfStmt") {
      return {branch(node)};
    }
    if (node.kind == "ForStmt" || node.kind == "WhileStmt") {
      return {loop(node)};
    }
    if (node.kind == "CXXForRangeStmt") {
      return {range_loop(node)};
    }
    if (node.kind == "ReturnStmt") {
      return {result(node)};
    }
    return {simple(node)};
  }

  // The statements of a branch or a loop, with or without braces.
  Body part(const AstNode& node, std::size_t from) {
    if (node.kind == "CompoundStmt") {
      return convert_list(node.inner, node.begin + 1);
    }
    return convert_list({node}, from);
  }

  Stmt simple(const AstNode& node) {
    if (node.kind == "ExprWithCleanups" && node.inner.size() == 1) {
      return simple(node.inner[0]);
    }
    Stmt stmt;
    if ((node.kind == "BinaryOperator" && node.opcode == "=") ||
        node.kind == "CompoundAssignOperator") {
      stmt = make_assignment(convert_expr(node.inner[0], text_), node.opcode,
                             convert_expr(node.inner[1], text_));
      accumulate(stmt);
    } else if (node.kind == "UnaryOperator" && (node.opcode == "++" || node.opcode == "--")) {
      stmt = make_assignment(convert_expr(node.inner[0], text_),
                             node.opcode == "++" ? "+=" : "-=", make_number(1));
    } else if (node.kind == "CallExpr") {
      stmt.kind = Stmt::Kind::expression;
      stmt.exprs = {convert_expr(node, text_)};
    } else {
      return verbatim(node);
    }
    return std::ranges::any_of(stmt.exprs, assigns) ? verbatim(node) : stmt;
  }

  Stmt result(const AstNode& node) {
    Stmt stmt;
    stmt.kind = Stmt::Kind::result;
    for (const AstNode& value : node.inner) {
      stmt.exprs.push_back(convert_expr(value, text_));
    }
    return std::ranges::any_of(stmt.exprs, assigns) ? verbatim(node) : stmt;
  }

  Stmt branch(const AstNode& node) {
    if (node.has_init || node.has_variable || node.is_constexpr || node.inner.size() < 2) {
      return verbatim(node);
    }
    Expr condition = convert_expr(node.inner[0], text_);
    if (assigns(condition)) {
      return verbatim(node);
    }
    Body otherwise;
    if (node.inner.size() > 2) {
      otherwise = part(node.inner[2], end_of(node.inner[1]));
    }
    return make_branch(std::move(condition), part(node.inner[1], node.inner[0].end),
                       std::move(otherwise));
  }

  Body declarations(const AstNode& node) {
    Body out;
    for (const AstNode& child : node.inner) {
      std::optional<Stmt> one = declaration(child, node.begin);
      if (!one) {
        return {verbatim(node)};
      }
      out.push_back(std::move(*one));
    }
    return out;
  }

  [[nodiscard]] std::string dims_behind(std::size_t at) const {
    std::string dims;
    at = skip_blanks(text_, at);
    while (at < text_.size() && text_[at] == '[') {
      const std::size_t close = text_.find(']', at);
      dims += slice(at, close + 1);
      at = skip_blanks(text_, close + 1);
    }
    return dims;
  }

  // Plain variables, pointers and arrays of numbers; anything else stays text.
  std::optional<Stmt> declaration(const AstNode& node, std::size_t begin) {
    if (node.kind != "VarDecl" || node.name.empty()) {
      return std::nullopt;
    }
    std::string type = known_type(node);
    Stmt stmt;
    if (const std::size_t bracket = type.find('['); bracket != std::string::npos) {
      type = trimmed(type.substr(0, bracket));
      stmt.dims = dims_behind(node.place + node.name.size());
    }
    std::string base = mutable_type(type);
    while (is_pointer(base)) {
      base = trimmed(mutable_type(std::string(trimmed(element_type(base)))));
      base = base.starts_with("const ") ? base.substr(6) : base;
    }
    if (!is_integer(base) && !is_floating(base) && base != "bool") {
      return std::nullopt;
    }
    stmt.kind = Stmt::Kind::declaration;
    stmt.text = node.name;
    stmt.type = std::move(type);
    return add_init(node, begin, std::move(stmt));
  }

  std::optional<Stmt> add_init(const AstNode& node, std::size_t begin, Stmt stmt) const {
    stmt.prefix = node.storage;
    if (node.is_constexpr) {
      stmt.prefix += (stmt.prefix.empty() ? "" : " ") + std::string("constexpr");
      stmt.type = mutable_type(stmt.type);
    }
    for (const AstNode& child : node.inner) {
      if (child.kind == "AlignedAttr") {
        const std::string head = slice(begin, node.place);
        const std::size_t at = head.find("alignas(");
        if (at == std::string::npos) {
          return std::nullopt;
        }
        stmt.prefix = head.substr(at, head.find(')', at) - at + 1) +
                      (stmt.prefix.empty() ? "" : " ") + stmt.prefix;
      } else if (child.kind.ends_with("Attr") || !stmt.exprs.empty()) {
        return std::nullopt;
      } else {
        stmt.exprs.push_back(convert_expr(child, text_));
      }
    }
    if (std::ranges::any_of(stmt.exprs, assigns)) {
      return std::nullopt;
    }
    return stmt;
  }

  Stmt loop(const AstNode& node) {
    Stmt stmt;
    stmt.kind = Stmt::Kind::loop;
    const AstNode& body = node.inner.back();
    std::size_t head_end = body.begin;
    stmt.body = part(body, text_.rfind(')', body.begin));
    if (node.kind == "ForStmt" && node.inner.size() == 5 && read_header(node, stmt.loop) &&
        !changes_variable(stmt.body, stmt.loop.variable)) {
      return stmt;
    }
    while (head_end > node.begin && text_[head_end - 1] != ')') {
      --head_end;
    }
    stmt.loop = Loop();
    stmt.loop.header = slice(node.begin, head_end);
    return stmt;
  }

  // for (float v : values) of a container of numbers, by index; anything else stays text.
  Stmt range_loop(const AstNode& node) {
    const auto variable_of = [](const AstNode& declared) {
      const bool one = declared.inner.size() == 1 && declared.inner[0].inner.size() == 1;
      return one ? declared.inner.data() : nullptr;
    };
    const AstNode* range = node.inner.size() == 8 ? variable_of(node.inner[1]) : nullptr;
    const AstNode* variable = range != nullptr ? variable_of(node.inner[6]) : nullptr;
    if (variable == nullptr || !node.inner[0].kind.empty()) {
      return verbatim(node);
    }
    const Expr values = convert_expr(range->inner[0], text_);
    Body body = part(node.inner[7], text_.rfind(')', node.inner[7].begin));
    const std::string held = contained_type(values.type);
    const std::string type = known_type(*variable);
    if (values.kind != Expr::Kind::name || held.empty() || is_opaque(body)) {
      return verbatim(node);
    }
    Names used = names_in(body);
    used.insert(values.text);
    const std::string index = fresh_name("i", used);
    Expr element = {Expr::Kind::subscript, {}, held, {values, make_name(index, "std::size_t")}};
    if (type.ends_with("&")) {
      substitute(body, variable->name, element);
    } else if (mutable_type(type) == held) {
      body.insert(body.begin(), make_declaration(type, variable->name, {std::move(element)}));
    } else {
      return verbatim(node);
    }
    const Expr size = {Expr::Kind::member, ".size", {}, {values}};
    return make_loop("std::size_t", index, make_number(0),
                     {Expr::Kind::call, {}, "std::size_t", {size}}, make_number(1),
                     std::move(body));
  }

  bool read_header(const AstNode& node, Loop& loop) {
    const AstNode& init = node.inner[0];
    const AstNode& condition = node.inner[2];
    if (init.kind != "DeclStmt" || init.inner.size() != 1 || !node.inner[1].kind.empty() ||
        condition.kind != "BinaryOperator" || !is_comparison(condition.opcode)) {
      return false;
    }
    const std::optional<Stmt> variable = declaration(init.inner[0], init.begin);
    if (!variable || variable->exprs.size() != 1 || !is_integer(variable->type)) {
      return false;
    }
    loop.variable = variable->text;
    loop.type = variable->type;
    loop.lower = variable->exprs[0];
    loop.comparison = condition.opcode;
    Expr left = convert_expr(condition.inner[0], text_);
    loop.upper = convert_expr(condition.inner[1], text_);
    move_offset(left, loop);
    const bool plain = left.kind == Expr::Kind::name && left.text == loop.variable &&
                       !mentions(loop.upper, loop.variable) && !has_effect(loop.upper);
    return plain && read_step(node.inner[3], loop);
  }

  bool read_step(const AstNode& node, Loop& loop) {
    const Stmt step = node.kind.empty() ? Stmt() : simple(node);
    if (step.kind != Stmt::Kind::assignment || step.exprs[0].kind != Expr::Kind::name ||
        step.exprs[0].text != loop.variable || (step.text != "+=" && step.text != "-=") ||
        mentions(step.exprs[1], loop.variable)) {
      return false;
    }
    loop.advance = step.text;
    loop.step = step.exprs[1];
    const bool up = loop.comparison.starts_with("<");
    return up == (step.text == "+=");
  }

  const std::string& text_;
};

}  // namespace

std::vector<std::string> directives_in(const std::string& gap) {
  std::vector<std::string> found;
  std::istringstream lines(gap);
  bool open = false;
  for (std::string line; std::getline(lines, line);) {
    std::string text(trimmed(line));
    const bool starts = !open && text.starts_with("#");
    const bool goes_on = text.ends_with("\\");
    if (goes_on) {
      text = trimmed(text.substr(0, text.size() - 1));
    }
    if (starts) {
      found.push_back(text);
    } else if (open) {
      found.back() += " " + text;
    }
    open = (starts || open) && goes_on;
  }
  return found;
}

std::vector<Stmt> convert_body(const AstNode& compound, const std::string& text) {
  return StmtConverter(text).convert_list(compound.inner, compound.begin + 1);
}

}  // namespace kernelpro
