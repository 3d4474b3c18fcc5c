// The plain function that stands between a task and a user's function.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "coordinator/task/own_call.hpp"

namespace kernelpro {
namespace {

// As a signature spells a tensor's numbers.
std::string number_text(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "double";
    case DType::i64:
      return "long";
    case DType::i32:
      return "int";
    case DType::i16:
      return "short";
    case DType::i8:
      return "signed char";
    case DType::u8:
      return "unsigned char";
    default:
      return "float";
  }
}

}  // namespace

std::string bridge_declaration(const OwnCall& call, const std::vector<std::string>& only_read) {
  std::vector<std::string> parameters;
  for (const Leaf& leaf : call.leaves) {
    if (leaf.kind == Leaf::Kind::axis) {
      parameters.push_back("long " + leaf.name);
    } else if (leaf.kind == Leaf::Kind::scalar) {
      parameters.push_back(number_text(leaf.element.dtype) + " " + leaf.name);
    } else {
      const bool constant = std::ranges::find(only_read, leaf.name) != only_read.end();
      parameters.push_back(fmt::format("{}{}* {}", constant ? "const " : "",
                                       number_text(leaf.element.dtype), leaf.name));
    }
  }
  return fmt::format("int {}({})", bridge_name, fmt::join(parameters, ", "));
}

std::string bridge_text(const OwnCall& call, const std::vector<std::string>& only_read) {
  return fmt::format("static {} {{\n{}{}{}  return 0;\n}}\n\n", bridge_declaration(call, only_read),
                     call.before, call.call, call.after);
}

}  // namespace kernelpro
