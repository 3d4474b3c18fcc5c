#include "coordinator/rewrite/build.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace kernelpro {
namespace {

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

bool is_additive(const Expr& expr) {
  return expr.kind == Expr::Kind::binary && (expr.text == "+" || expr.text == "-");
}

}  // namespace

Expr make_binary(std::string operation, Expr left, Expr right) {
  if ((operation == "+" || operation == "-") && is_number(right, 0)) {
    return left;
  }
  if (operation == "+" && is_number(left, 0)) {
    return right;
  }
  if (operation == "*" && is_number(left, 1)) {
    return right;
  }
  if ((operation == "*" || operation == "/") && is_number(right, 1)) {
    return left;
  }
  std::string type = left.type;
  return {Expr::Kind::binary,
          std::move(operation),
          std::move(type),
          {std::move(left), std::move(right)}};
}

Expr make_subscript(Expr base, Expr index) {
  if (is_additive(base) && is_pointer(base.parts[0].type) && !is_pointer(base.parts[1].type)) {
    Expr offset = base.parts[1];
    Expr inner = base.parts[0];
    Expr sum = base.text == "+" ? make_binary("+", std::move(offset), std::move(index))
                                : make_binary("-", std::move(index), std::move(offset));
    return make_subscript(std::move(inner), std::move(sum));
  }
  std::string type = element_type(base.type);
  return {Expr::Kind::subscript, {}, std::move(type), {std::move(base), std::move(index)}};
}

Stmt make_loop(std::string type, std::string variable, Expr lower, Expr upper, Expr step,
               std::vector<Stmt> body) {
  Stmt stmt;
  stmt.kind = Stmt::Kind::loop;
  stmt.loop.type = std::move(type);
  stmt.loop.variable = std::move(variable);
  stmt.loop.lower = std::move(lower);
  stmt.loop.comparison = "<";
  stmt.loop.upper = std::move(upper);
  stmt.loop.step = std::move(step);
  stmt.body = std::move(body);
  return stmt;
}

std::string plain_type(std::string type) {
  replace_all(type, "kp_scope::", "");
  replace_all(type, " *", "*");
  replace_all(type, " &", "&");
  replace_all(type, "*__restrict", "* __restrict");
  replace_all(type, "*const", "* const");
  const std::string trailing = " const";
  if (type.ends_with(trailing) && type.find('*') == std::string::npos) {
    type = "const " + type.substr(0, type.size() - trailing.size());
  }
  return type;
}

std::string mutable_type(const std::string& type) {
  if (type.ends_with("* const")) {
    return type.substr(0, type.size() - 6);
  }
  const bool pointer = type.find('*') != std::string::npos;
  return !pointer && type.starts_with("const ") ? type.substr(6) : type;
}

std::string element_type(const std::string& type) {
  if (const std::size_t bracket = type.find('['); bracket != std::string::npos) {
    const std::size_t close = type.find(']', bracket);
    return close == std::string::npos ? "" : type.substr(0, bracket) + type.substr(close + 1);
  }
  const std::size_t star = type.rfind('*');
  if (star == std::string::npos) {
    return "";
  }
  return type.substr(0, star);
}

std::string contained_type(const std::string& type) {
  std::string name = mutable_type(type);
  name = name.starts_with("std::") ? name.substr(5) : name;
  for (const std::string container : {"vector<", "span<", "array<"}) {
    if (name.starts_with(container) && name.ends_with(">")) {
      const std::string inner = name.substr(container.size(), name.size() - container.size() - 1);
      const std::string held = mutable_type(inner.substr(0, inner.find(',')));
      return is_integer(held) || is_floating(held) ? held : "";
    }
  }
  return "";
}

bool is_pointer(const std::string& type) {
  return type.find('*') != std::string::npos || type.find('[') != std::string::npos;
}

bool is_floating(const std::string& type) {
  const std::string plain = mutable_type(type);
  return plain == "float" || plain == "double" || plain == "long double";
}

bool is_integer(const std::string& type) {
  static constexpr std::array<const char*, 27> names = {
      "int",          "long",           "short",          "char",
      "signed char",  "unsigned char",  "unsigned short", "unsigned int",
      "unsigned",     "unsigned long",  "long long",      "unsigned long long",
      "size_t",       "std::size_t",    "int8_t",         "int16_t",
      "int32_t",      "int64_t",        "uint8_t",        "uint16_t",
      "uint32_t",     "uint64_t",       "ptrdiff_t",      "std::int64_t",
      "std::int32_t", "std::ptrdiff_t", "std::uint64_t"};
  const std::string plain = mutable_type(type);
  return std::ranges::any_of(names, [&](const char* name) { return plain == name; });
}

}  // namespace kernelpro
