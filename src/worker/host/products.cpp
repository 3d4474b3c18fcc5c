#include "worker/host/products.hpp"

#include <array>
#include <string_view>

#include "worker/host/operands_text.hpp"

namespace kernelpro {

namespace {

struct Replacement {
  std::string_view division;
  std::string_view product;
};

// The longer names first. A square root has one operand: a conversion of numbers has one too, and
// takes as long as a product.
constexpr auto by_name = std::to_array<Replacement>({{"vdiv", "vmul"},
                                                     {"idiv", "imul"},
                                                     {"fdiv", "fmul"},
                                                     {"sdiv", "mul"},
                                                     {"udiv", "mul"},
                                                     {"div", "mul"},
                                                     {"fsqrt", "frintn"}});

// "vsqrtss a, b, c" has the operands of a product.
std::string square_root_replaced(const std::string& line, std::size_t name) {
  const bool vex = line[name] == 'v';
  const std::size_t end = line.find_first_of(" \t", name);
  const bool scalar = end != std::string::npos && end >= 2 && line[end - 2] == 's';
  std::string out = line;
  if (vex && scalar && split_assembler(line, false).operands.size() == 3) {
    return out.replace(name, 5, "vmul");
  }
  return out.replace(name, end - name, vex ? "vcvtdq2ps" : "cvtdq2ps");
}

}  // namespace

std::string product_in_place_of(const std::string& line) {
  const std::size_t name = line.find_first_not_of(" \t");
  if (name == std::string::npos) {
    return line;
  }
  const std::string_view rest = std::string_view(line).substr(name);
  if (rest.starts_with("sqrt") || rest.starts_with("vsqrt")) {
    return square_root_replaced(line, name);
  }
  for (const Replacement& one : by_name) {
    if (rest.starts_with(one.division)) {
      return std::string(line).replace(name, one.division.size(), one.product);
    }
  }
  return line;
}

}  // namespace kernelpro
