#include "worker/profile/long_functions.hpp"

#include <algorithm>
#include <array>

namespace kernelpro {
namespace {

constexpr std::string_view negative_factor = ", -|R";

// As nvcc 13 writes them for sm_90. FCHK asks whether a division needs the slow path.
constexpr std::array<LongFunction, 11> long_functions = {{
    {"FCHK", "", 11, 1},           // a / b, and a product with what was prepared
    {"IADD3", "0x1800000", 8, 1},  // 1 / b
    {"VIADD", "0x1800000", 8, 1},
    {"ISETP", "0x727fffff", 9, 2},          // a root
    {"ISETP.GE.U32", "0x7f000000", 17, 4},  // one over a root, rounded
    {"FFMA.SAT", "", 8, 5},                 // exp: the fast form scales tiny numbers too
    {"FMUL", "0.6366197", 18, 2},           // sin, cos: by 2 / pi
    {"FFMA", "1.19209289", 16, 2},          // log
    {"FFMA", "1.92513", 48, 2},             // pow, beyond its logarithm
    {"FFMA", negative_factor, 15, 1},       // fmod and remainder have two of these: |a| - q * |b|
    {"MUFU.RCP64H", "", 12, 1},             // a division of doubles
}};

// A sum less an absolute value is no remainder: there the absolute value is a factor.
bool is_addend(std::string_view operands, std::size_t at) {
  return operands.find(',', at + 1) == std::string_view::npos;
}

bool has_mark(const LongFunction& function, const Instruction& instruction) {
  const std::string_view operands = instruction.operands;
  const std::size_t at = operands.find(function.part);
  return instruction.opcode.starts_with(function.opcode) && at != std::string_view::npos &&
         !(function.part == negative_factor && is_addend(operands, at));
}

}  // namespace

const LongFunction* long_function(const Instruction& instruction) {
  const auto* const found =
      std::find_if(long_functions.begin(), long_functions.end(),
                   [&](const LongFunction& each) { return has_mark(each, instruction); });
  return found == long_functions.end() ? nullptr : found;
}

}  // namespace kernelpro
