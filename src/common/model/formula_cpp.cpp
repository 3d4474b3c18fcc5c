// A formula as C++.
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>

#include "common/model/formula_node.hpp"

namespace kernelpro {

namespace {

using Op = Formula::Node::Operation;

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
    return real ? "double(" + node.name + ")" : node.name;
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
