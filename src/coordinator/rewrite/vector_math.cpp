#include <array>
#include <string_view>

#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/transformations.hpp"

namespace kernelpro {
namespace {

struct Replacement {
  std::string_view function;  // of <cmath>, on float
  std::string_view name;      // ours
  std::string_view needs;     // another one of ours; empty: none
  std::string_view definition;
};

// Compilers vectorize them, because all choices are made on whole numbers: a choice between
// floating numbers becomes a branch around arithmetic that might trap. Coefficients are Chebyshev
// fits of our own. Errors stay below 2 units in the last place; infinities, zeros and NaN come out
// as from <cmath>.
constexpr std::array<Replacement, 3> replacements = {{
    {"exp", "kp_vector_exp", "", R"(
// e^x = 2^n e^r with |r| <= ln(2) / 2; 2^n in two factors, so that tiny results are right too.
static inline float kp_vector_exp(float x) {
  const int bits = __builtin_bit_cast(int, x);
  const int size = bits & 0x7fffffff;
  const int limit = 0x42d00000;  // 104: from there on the result is zero or infinite
  const float near = __builtin_bit_cast(float, (bits ^ size) | (size < limit ? size : limit));
  const int n = static_cast<int>(near * 1.44269504F + 256.5F) - 256;
  const float whole = static_cast<float>(n);
  const float r = (near - whole * 0.693359375F) + whole * 2.12194440e-4F;
  float p = 1.392632562e-3F;
  p = p * r + 8.363292753e-3F;
  p = p * r + 4.166655376e-2F;
  p = p * r + 1.666657631e-1F;
  p = p * r + 0.5F;
  p = p * (r * r) + r + 1.0F;
  const int half = n >> 1;
  const float first = __builtin_bit_cast(float, (half + 127) << 23);
  const float second = __builtin_bit_cast(float, (n - half + 127) << 23);
  const int not_a_number = -static_cast<int>(size > 0x7f800000);
  return __builtin_bit_cast(float, __builtin_bit_cast(int, p * first * second) | not_a_number);
}
)"},
    {"log", "kp_vector_log", "", R"(
// log(x) = e ln(2) + log(1 + f) with 1 + f between sqrt(1/2) and sqrt(2).
static inline float kp_vector_log(float x) {
  const int given = __builtin_bit_cast(int, x);
  const int shift = 23 & -static_cast<int>(given < 0x00800000);  // for subnormal numbers
  const int bits = __builtin_bit_cast(int, x * __builtin_bit_cast(float, (127 + shift) << 23));
  const int e = (bits - 0x3f3504f3) >> 23;
  const float f = __builtin_bit_cast(float, bits - e * 8388608) - 1.0F;
  const float exponent = static_cast<float>(e - shift);
  float p = -7.902743772e-2F;
  p = p * f + 1.262231985e-1F;
  p = p * f - 1.299818376e-1F;
  p = p * f + 1.421449592e-1F;
  p = p * f - 1.664128146e-1F;
  p = p * f + 2.000104509e-1F;
  p = p * f - 2.500030642e-1F;
  p = p * f + 3.333333073e-1F;
  const float square = f * f;
  const float tail = p * f * square - exponent * 2.12194440e-4F - 0.5F * square;
  const float result = (f + tail) + exponent * 0.693359375F;
  // What a sum makes of the result: itself, -inf for zero, NaN for negative numbers, +inf, NaN.
  const int zero = -static_cast<int>((given & 0x7fffffff) == 0);
  const int negative = -static_cast<int>(given < 0) & ~zero;
  const int endless = -static_cast<int>(given >= 0x7f800000);
  const int special = (zero & -0x00800000) | (negative & 0x7fc00000) | (endless & given);
  return result * __builtin_bit_cast(float, 0x3f800000 & ~(zero | negative | endless)) +
         __builtin_bit_cast(float, special);
}
)"},
    {"tanh", "kp_vector_tanh", "kp_vector_exp", R"(
// An odd polynomial near zero, 1 - 2 / (e^2x + 1) elsewhere.
static inline float kp_vector_tanh(float x) {
  const int bits = __builtin_bit_cast(int, x);
  const int size = bits & 0x7fffffff;
  const int limit = 0x3f200000;  // 0.625
  const float s = __builtin_bit_cast(float, size < limit ? size : limit);
  const float square = s * s;
  float p = -6.045165097e-3F;
  p = p * square + 2.096132911e-2F;
  p = p * square - 5.384326318e-2F;
  p = p * square + 1.333271885e-1F;
  p = p * square - 3.333332843e-1F;
  const int near = __builtin_bit_cast(int, s + s * square * p);
  const float power = kp_vector_exp(2.0F * __builtin_bit_cast(float, size));
  const int far = __builtin_bit_cast(int, 1.0F - 2.0F / (power + 1.0F));
  const int small = -static_cast<int>(size < limit);
  return __builtin_bit_cast(float, (bits ^ size) | (near & small) | (far & ~small));
}
)"},
}};

const Replacement* replacement_for(const Expr& expr) {
  if (expr.kind != Expr::Kind::call || expr.parts.size() != 2 ||
      expr.parts[0].kind != Expr::Kind::name || mutable_type(expr.type) != "float") {
    return nullptr;
  }
  std::string name = expr.parts[0].text;
  name = name.starts_with("std::") ? name.substr(5) : name;
  name = name.starts_with("__builtin_") ? name.substr(10) : name;
  for (const Replacement& one : replacements) {
    if (name == one.function || name == std::string(one.function) + "f") {
      return &one;
    }
  }
  return nullptr;
}

void replace_calls(Body& body, bool in_loop, Names& needed) {
  for (Stmt& stmt : body) {
    if (in_loop) {
      for (Expr& expr : stmt.exprs) {
        for_each_expr(expr, [&](Expr& part) {
          if (const Replacement* found = replacement_for(part)) {
            part.parts[0] = make_name(std::string(found->name));
            needed.insert(std::string(found->name));
            needed.insert(std::string(found->needs));
          }
        });
      }
    }
    const bool inside = in_loop || stmt.kind == Stmt::Kind::loop;
    replace_calls(stmt.body, inside, needed);
    replace_calls(stmt.otherwise, inside, needed);
  }
}

}  // namespace

Result<Program> vector_math(const Program& program) {
  Program out = program;
  Names needed;
  for (Item& item : out.items) {
    if (item.understood) {
      replace_calls(item.function.body, false, needed);
    }
  }
  if (needed.empty()) {
    return make_error(ErrorKind::bad_input, "no loop calls exp, log or tanh on float");
  }
  const Names present = names_in(program);
  for (const Replacement& one : replacements) {
    const std::string name(one.name);
    if (needed.contains(name) && !present.contains(name)) {
      add_to_head(out, std::string(one.definition));
    }
  }
  return out;
}

std::vector<Offer> offer_vector_math(const Program& program) {
  return {{"all loops", "exp, log and tanh on float as inline polynomials",
           [program] { return vector_math(program); }}};
}

}  // namespace kernelpro
