#include "worker/oracle/reference_source.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kernelpro {

namespace {

// What every wrapper needs: inputs of any floating type as Real.
constexpr const char* support = R"(
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>
#include "kernelpro/candidate.h"

namespace {
double kp_half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 0x400, exponent - 25);
  if (exponent == 0x1f) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

double kp_brain(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

double kp_element(const kp_tensor& tensor, std::int64_t i) {
  if (tensor.dtype.code == KP_BFLOAT) {
    return kp_brain(static_cast<const std::uint16_t*>(tensor.data)[i]);
  }
  switch (tensor.dtype.bits) {
    case 64: return static_cast<const double*>(tensor.data)[i];
    case 32: return static_cast<const float*>(tensor.data)[i];
    default: return kp_half(static_cast<const std::uint16_t*>(tensor.data)[i]);
  }
}

std::int64_t kp_elements(const kp_tensor& tensor) {
  std::int64_t count = 1;
  for (std::int32_t axis = 0; axis < tensor.rank; ++axis) {
    count *= tensor.shape[axis];
  }
  return count;
}

template <class Number>
std::vector<Number> kp_numbers(const kp_tensor& tensor) {
  std::vector<Number> out;
  out.reserve(static_cast<std::size_t>(kp_elements(tensor)));
  for (std::int64_t i = 0; i < kp_elements(tensor); ++i) {
    out.push_back(Number(kp_element(tensor, i)));
  }
  return out;
}
}  // namespace
)";

// A number that counts the operations done on it. Comparisons, signs and rounding are free, as in
// the usual counting of flops; every other function counts one.
constexpr const char* counting_type = R"(
struct kp_counted {
  double v = 0;
  static inline unsigned long long operations = 0;
  kp_counted() = default;
  kp_counted(double x) : v(x) {}
  kp_counted(float x) : v(x) {}
  kp_counted(int x) : v(x) {}
  kp_counted(long x) : v(static_cast<double>(x)) {}
  kp_counted(long long x) : v(static_cast<double>(x)) {}
  kp_counted(unsigned long x) : v(static_cast<double>(x)) {}
  explicit operator double() const { return v; }
  explicit operator std::int64_t() const { return static_cast<std::int64_t>(v); }
  static kp_counted made(double x) { ++operations; return kp_counted(x); }
  kp_counted operator-() const { return kp_counted(-v); }
  kp_counted operator+() const { return *this; }
  friend kp_counted operator+(kp_counted a, kp_counted b) { return made(a.v + b.v); }
  friend kp_counted operator-(kp_counted a, kp_counted b) { return made(a.v - b.v); }
  friend kp_counted operator*(kp_counted a, kp_counted b) { return made(a.v * b.v); }
  friend kp_counted operator/(kp_counted a, kp_counted b) { return made(a.v / b.v); }
  kp_counted& operator+=(kp_counted o) { return *this = *this + o; }
  kp_counted& operator-=(kp_counted o) { return *this = *this - o; }
  kp_counted& operator*=(kp_counted o) { return *this = *this * o; }
  kp_counted& operator/=(kp_counted o) { return *this = *this / o; }
  friend bool operator<(kp_counted a, kp_counted b) { return a.v < b.v; }
  friend bool operator>(kp_counted a, kp_counted b) { return a.v > b.v; }
  friend bool operator<=(kp_counted a, kp_counted b) { return a.v <= b.v; }
  friend bool operator>=(kp_counted a, kp_counted b) { return a.v >= b.v; }
  friend bool operator==(kp_counted a, kp_counted b) { return a.v == b.v; }
  friend bool operator!=(kp_counted a, kp_counted b) { return a.v != b.v; }
};
#define KP_COUNT(name) inline kp_counted name(kp_counted x) { return kp_counted::made(std::name(x.v)); }
KP_COUNT(exp) KP_COUNT(exp2) KP_COUNT(expm1) KP_COUNT(log) KP_COUNT(log2) KP_COUNT(log1p)
KP_COUNT(sqrt) KP_COUNT(cbrt) KP_COUNT(sin) KP_COUNT(cos) KP_COUNT(tan) KP_COUNT(tanh)
KP_COUNT(sinh) KP_COUNT(cosh) KP_COUNT(asin) KP_COUNT(acos) KP_COUNT(atan) KP_COUNT(erf)
KP_COUNT(asinh) KP_COUNT(acosh) KP_COUNT(atanh) KP_COUNT(erfc) KP_COUNT(tgamma) KP_COUNT(lgamma)
KP_COUNT(log10)
#undef KP_COUNT
#define KP_FREE(name) inline kp_counted name(kp_counted x) { return kp_counted(std::name(x.v)); }
KP_FREE(abs) KP_FREE(fabs) KP_FREE(floor) KP_FREE(ceil) KP_FREE(round) KP_FREE(trunc)
KP_FREE(rint) KP_FREE(nearbyint)
#undef KP_FREE
inline kp_counted pow(kp_counted x, kp_counted y) { return kp_counted::made(std::pow(x.v, y.v)); }
inline kp_counted atan2(kp_counted x, kp_counted y) { return kp_counted::made(std::atan2(x.v, y.v)); }
inline kp_counted hypot(kp_counted x, kp_counted y) { return kp_counted::made(std::hypot(x.v, y.v)); }
inline kp_counted fmod(kp_counted x, kp_counted y) { return kp_counted::made(std::fmod(x.v, y.v)); }
inline kp_counted copysign(kp_counted x, kp_counted y) { return kp_counted(std::copysign(x.v, y.v)); }
inline kp_counted fmax(kp_counted x, kp_counted y) { return kp_counted(std::fmax(x.v, y.v)); }
inline kp_counted fmin(kp_counted x, kp_counted y) { return kp_counted(std::fmin(x.v, y.v)); }
inline kp_counted fma(kp_counted x, kp_counted y, kp_counted z) { return x * y + z; }
inline bool isfinite(kp_counted x) { return std::isfinite(x.v); }
inline bool isnan(kp_counted x) { return std::isnan(x.v); }
inline bool isinf(kp_counted x) { return std::isinf(x.v); }
inline bool signbit(kp_counted x) { return std::signbit(x.v); }
template <>
struct std::numeric_limits<kp_counted> : std::numeric_limits<double> {
  static kp_counted infinity() { return std::numeric_limits<double>::infinity(); }
  static kp_counted max() { return std::numeric_limits<double>::max(); }
  static kp_counted lowest() { return std::numeric_limits<double>::lowest(); }
  static kp_counted min() { return std::numeric_limits<double>::min(); }
  static kp_counted epsilon() { return std::numeric_limits<double>::epsilon(); }
};
)";

// Collects the statements before the call and the expression each argument becomes.
class Wrapper {
 public:
  Wrapper(const Task& task, ReferenceMode mode) : task_(task), mode_(mode) {}

  std::string text() {
    declare_inputs();
    declare_outputs();
    std::string body = declarations_;
    std::string arguments;
    for (const std::string& argument : task_.reference.call.arguments) {
      arguments += (arguments.empty() ? "" : ", ") + expression(argument);
    }
    body += fmt::format("  {}({});\n", task_.reference.call.function, arguments);
    if (mode_ == ReferenceMode::count) {
      body += fmt::format(
          "  const double kp_total = static_cast<double>(kp_counted::operations);\n"
          "  std::memcpy(tensors[{}].data, &kp_total, sizeof kp_total);\n",
          task_.inputs.size());
    }
    return fmt::format(
        "extern \"C\" int kp_launch(const kp_context* context, const kp_tensor* tensors, "
        "std::int32_t) {{\n  (void)context;\n  (void)tensors;\n{}  return 0;\n}}\n",
        body);
  }

 private:
  // The local that stands for tensor `name`.
  static std::string local(const std::string& name) { return "kp_tensor_" + name; }

  void declare_inputs() {
    for (std::size_t i = 0; i < task_.inputs.size(); ++i) {
      const TensorSpec& input = task_.inputs[i];
      if (is_floating(input.dtype)) {
        declarations_ += fmt::format(
            "  const std::vector<Real> {0}_values = kp_numbers<Real>(tensors[{1}]);\n"
            "  const Real* {0} = {0}_values.data();\n",
            local(input.name), i);
      } else {
        declarations_ +=
            fmt::format("  const auto* {} = static_cast<const {}*>(tensors[{}].data);\n",
                        local(input.name), cpp_type(input.dtype), i);
      }
    }
  }

  void declare_real_output(const std::string& name) {
    if (mode_ == ReferenceMode::values) {
      declarations_ += fmt::format("  Real* {} = static_cast<Real*>(tensors[{}].data);\n",
                                   local(name), position_);
    } else {
      declarations_ += fmt::format(
          "  std::vector<Real> {0}_values(static_cast<std::size_t>(kp_elements(tensors[{1}])));\n"
          "  Real* {0} = {0}_values.data();\n",
          local(name), position_);
    }
    ++position_;
  }

  void declare_outputs() {
    position_ = task_.inputs.size();
    for (const TensorSpec& output : task_.outputs) {
      if (!output.selects.empty()) {
        continue;
      }
      if (is_floating(output.dtype)) {
        declare_real_output(output.name);
      } else {
        declarations_ += fmt::format("  auto* {} = static_cast<{}*>(tensors[{}].data);\n",
                                     local(output.name), cpp_type(output.dtype), position_);
        ++position_;
      }
    }
    for (const Selection& selection : task_.selections) {
      declare_real_output(selection.name);
    }
  }

  [[nodiscard]] std::string expression(const std::string& argument) const {
    for (std::size_t i = 0; i < task_.axes.size(); ++i) {
      if (task_.axes[i].name == argument) {
        return fmt::format("context->axes[{}]", i);
      }
    }
    for (std::size_t i = 0; i < task_.scalars.size(); ++i) {
      if (task_.scalars[i].name == argument) {
        return is_floating(task_.scalars[i].dtype)
                   ? fmt::format("Real(context->scalars[{}])", i)
                   : fmt::format("static_cast<std::int64_t>(context->scalars[{}])", i);
      }
    }
    const bool number = !argument.empty() && (argument[0] >= '0' && argument[0] <= '9');
    return number ? argument : local(argument);
  }

  const Task& task_;
  ReferenceMode mode_;
  std::string declarations_;
  std::size_t position_ = 0;
};

}  // namespace

std::string reference_source(const Task& task, ReferenceMode mode) {
  const bool counting = mode == ReferenceMode::count;
  return fmt::format("{}{}using Real = {};\n#include \"{}\"\n{}", support,
                     counting ? counting_type : "", counting ? "kp_counted" : "double",
                     task.reference.file, Wrapper(task, mode).text());
}

}  // namespace kernelpro
