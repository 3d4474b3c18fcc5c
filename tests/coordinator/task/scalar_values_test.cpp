#include "coordinator/task/scalar_values.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

TEST(ScalarValues, ANumberThatTheCodeGivesIsTheHighest) {
  EXPECT_EQ(
      scalar_values("void f(int n, float* x, float rate=1e-3f, float decay = 0.0f) {}", "rate"),
      "uniform:0.0005:0.001");
  EXPECT_EQ(scalar_values("void f(int n, float* x, float decay = 0.0f) {}", "decay"), "");
}

TEST(ScalarValues, WhatKeepsARootFromZeroIsSmall) {
  for (const char* use : {"1.0f / sqrtf(v + delta)", "rsqrtf(delta + sum / n)",
                          "m / (sqrtf(v) + delta)", "m / (delta + std::sqrt(v * 2))"}) {
    EXPECT_EQ(scalar_values(std::string("float s = ") + use + ";", "delta"), "uniform:1e-06:1e-05")
        << use;
  }
  for (const char* use : {"sqrtf(v * delta)", "sqrtf(g(v + delta))", "v + delta",
                          "sqrtf(v) * delta", "sqrtf(p.delta + v)"}) {
    EXPECT_EQ(scalar_values(std::string("float s = ") + use + ";", "delta"), "") << use;
  }
}

TEST(ScalarValues, WhatIsTakenFromOneLiesBetweenZeroAndOne) {
  EXPECT_EQ(scalar_values("m = b * m + (1.0f - b) * g;", "b"), "uniform:0.1:0.9");
  EXPECT_EQ(scalar_values("m = b * m + (2.0f - b) * g;", "b"), "");
}

TEST(ScalarSample, IsWhatIsFixedOrTheMiddleOfTheRange) {
  NewTask request;
  request.fixed["a"] = "3.5";
  request.values["b"] = "uniform:1:2";
  EXPECT_EQ(scalar_sample(request, "a"), 3.5);
  EXPECT_EQ(scalar_sample(request, "b"), 1.5);
  EXPECT_FALSE(scalar_sample(request, "c").has_value());
}

}  // namespace
}  // namespace kernelpro
