// The inline functions against those of <cmath>, over the whole range of float.
#include <gmock/gmock.h>

#include <fstream>

#include "common/base/process.hpp"
#include "coordinator/rewrite/fixture.hpp"

namespace kernelpro {
namespace {

using testing::rewritten;

// Prints the worst error in units of the last place, or where something special came out wrong.
const char* const program = R"(
#include <cstdint>
#include <cstdio>
#include <cstring>
static double unit(double value) {
  const float size = std::fabs(static_cast<float>(value));
  int exponent = 0;
  std::frexp(size, &exponent);
  return size < 1.17549435e-38F ? 1.401298464e-45 : std::ldexp(1.0, exponent - 24);
}
template <typename Ours, typename Exact>
static void check(const char* name, const Ours& ours, const Exact& exact) {
  double worst = 0;
  for (std::uint64_t i = 0; i < (std::uint64_t{1} << 32); i += 3989) {
    const auto bits = static_cast<std::uint32_t>(i);
    float x = 0;
    std::memcpy(&x, &bits, 4);
    const double expected = exact(static_cast<double>(x));
    const float found = ours(x);
    const auto rounded = static_cast<float>(expected);
    const bool special = !std::isfinite(rounded) || !std::isfinite(found);
    if (special && found != rounded && !(std::isnan(found) && std::isnan(rounded))) {
      std::printf("%s(%g) is %g and not %g\n", name, x, found, rounded);
    } else if (!special) {
      worst = std::fmax(worst, std::fabs(found - expected) / unit(expected));
    }
  }
  if (worst > 2.0) {
    std::printf("%s is off by %g units\n", name, worst);
  }
}
int main() {
  check("exp", kp_vector_exp, [](double x) { return std::exp(x); });
  check("log", kp_vector_log, [](double x) { return std::log(x); });
  check("tanh", kp_vector_tanh, [](double x) { return std::tanh(x); });
  const float infinity = __builtin_inff();
  const float found[] = {kp_vector_exp(infinity), kp_vector_exp(-infinity), kp_vector_log(infinity),
                         kp_vector_log(0.0F),     kp_vector_log(1.0F),      kp_vector_tanh(infinity),
                         kp_vector_tanh(-infinity)};
  const float expected[] = {infinity, 0.0F, infinity, -infinity, 0.0F, 1.0F, -1.0F};
  for (int i = 0; i < 7; ++i) {
    if (found[i] != expected[i]) {
      std::printf("limit %d is %g and not %g\n", i, found[i], expected[i]);
    }
  }
  std::puts("done");
}
)";

TEST(VectorMathAccuracyTest, ErrorsStayBelowTwoUnitsAndLimitsAreRight) {
  const std::string source =
      "#include <cmath>\nvoid f(int n, float* x) {\n  for (int i = 0; i < n; ++i) {\n"
      "    x[i] = std::exp(x[i]) + std::log(x[i]) + std::tanh(x[i]);\n  }\n}\n";
  const std::vector<Rewritten> all = rewritten("vector_math", source);
  ASSERT_EQ(all.size(), 1U);
  const Result<ScratchDir> scratch = ScratchDir::create("vector-math-test");
  ASSERT_TRUE(scratch.ok());
  std::ofstream(scratch->path() / "check.cpp") << all[0].source << program;
  Command command;
  command.directory = scratch->path().string();
  command.arguments = {KERNELPRO_CXX, "-std=c++20", "-O2", "-Wall",
                       "-Werror",     "check.cpp",  "-o",  "check"};
  const Result<Finished> built = run_command(command);
  ASSERT_TRUE(built.ok() && built->succeeded()) << built->errors;
  command.arguments = {(scratch->path() / "check").string()};
  const Result<Finished> ran = run_command(command);
  ASSERT_TRUE(ran.ok() && ran->succeeded());
  EXPECT_EQ(ran->output, "done\n");
}

}  // namespace
}  // namespace kernelpro
