// A formula as C++.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string_view>

#include "common/model/formula_node.hpp"

namespace kernelpro {

namespace {

using Op = Formula::Node::Operation;

// Of C and C++, sorted.
constexpr std::string_view keywords[] = {"alignas",
                                         "alignof",
                                         "and",
                                         "and_eq",
                                         "asm",
                                         "auto",
                                         "bitand",
                                         "bitor",
                                         "bool",
                                         "break",
                                         "case",
                                         "catch",
                                         "char",
                                         "char16_t",
                                         "char32_t",
                                         "char8_t",
                                         "class",
                                         "co_await",
                                         "co_return",
                                         "co_yield",
                                         "compl",
                                         "concept",
                                         "const",
                                         "const_cast",
                                         "consteval",
                                         "constexpr",
                                         "constinit",
                                         "continue",
                                         "decltype",
                                         "default",
                                         "delete",
                                         "do",
                                         "double",
                                         "dynamic_cast",
                                         "else",
                                         "enum",
                                         "explicit",
                                         "export",
                                         "extern",
                                         "false",
                                         "float",
                                         "for",
                                         "friend",
                                         "goto",
                                         "if",
                                         "inline",
                                         "int",
                                         "long",
                                         "mutable",
                                         "namespace",
                                         "new",
                                         "noexcept",
                                         "not",
                                         "not_eq",
                                         "nullptr",
                                         "operator",
                                         "or",
                                         "or_eq",
                                         "private",
                                         "protected",
                                         "public",
                                         "register",
                                         "reinterpret_cast",
                                         "requires",
                                         "restrict",
                                         "return",
                                         "short",
                                         "signed",
                                         "sizeof",
                                         "static",
                                         "static_assert",
                                         "static_cast",
                                         "struct",
                                         "switch",
                                         "template",
                                         "this",
                                         "thread_local",
                                         "throw",
                                         "true",
                                         "try",
                                         "typedef",
                                         "typeid",
                                         "typename",
                                         "union",
                                         "unsigned",
                                         "using",
                                         "virtual",
                                         "void",
                                         "volatile",
                                         "wchar_t",
                                         "while",
                                         "xor",
                                         "xor_eq"};

// An operator between blanks, or a function's name.
std::string cpp_name(Op operation, bool real) {
  switch (operation) {
    case Op::minimum:
      return real ? "std::min<double>" : "std::min<std::int64_t>";
    case Op::maximum:
      return real ? "std::max<double>" : "std::max<std::int64_t>";
    case Op::ceiling:
      return "std::ceil";
    case Op::floor:
      return "std::floor";
    case Op::log2:
      return "std::log2";
    case Op::square_root:
      return "std::sqrt";
    case Op::add:
      return " + ";
    case Op::multiply:
      return " * ";
    case Op::divide:
      return " / ";
    case Op::negate:
    case Op::subtract:
    case Op::number:
    case Op::name:
      break;
  }
  return " - ";
}

std::optional<std::string> cpp_number(double value, bool real) {
  const bool whole = value == std::floor(value);
  if (!whole && !real) {
    return std::nullopt;
  }
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), whole ? "%.0f" : "%.17g", value);
  return text.data() + std::string(real && whole ? ".0" : "");
}

// Nothing where a part that need not be whole stands outside of ceil and floor.
std::optional<std::string> cpp_text(const Formula::Node& node, bool real) {
  if (node.operation == Op::name) {
    const std::string name = cpp_identifier(node.name);
    return real ? "double(" + name + ")" : name;
  }
  if (node.operation == Op::number) {
    return cpp_number(node.number, real);
  }
  const bool rounds = node.operation == Op::ceiling || node.operation == Op::floor;
  const bool fractions = takes_fractions(node.operation);
  const std::optional<std::string> left = cpp_text(*node.left, real || fractions);
  const std::optional<std::string> right = node.right ? cpp_text(*node.right, real) : "";
  if (!left || !right || (fractions && !rounds && !real)) {
    return std::nullopt;
  }
  const std::string name = cpp_name(node.operation, real);
  if (node.operation == Op::negate) {
    return "(-" + *left + ")";
  }
  if (name.front() == ' ') {
    return "(" + *left + name + *right + ")";
  }
  const std::string call = name + "(" + *left + (node.right ? ", " + *right : "") + ")";
  return rounds && !real ? "static_cast<std::int64_t>(" + call + ")" : call;
}

}  // namespace

std::string cpp_identifier(const std::string& name) {
  return std::ranges::binary_search(keywords, name) ? name + "_" : name;
}

Result<std::string> Formula::cpp() const {
  const std::optional<std::string> text = root_ ? cpp_text(*root_, false) : "0";
  if (!text) {
    return make_error(ErrorKind::bad_input,
                      "the formula \"" + text_ +
                          "\" has parts outside of ceil and floor that need not be whole numbers");
  }
  return *text;
}

}  // namespace kernelpro
