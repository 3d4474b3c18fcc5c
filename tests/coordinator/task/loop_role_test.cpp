#include <gtest/gtest.h>

#include <string>

#include "coordinator/task/function_body.hpp"

namespace kernelpro {
namespace {

LoopRole part_of(const std::string& body) {
  const std::string source =
      "static int twice(int a) { return 2 * a; }\nvoid f(int n, int k) {\n" + body + "\n}\n";
  return role_in_loops(source, "f", "k");
}

TEST(LoopRole, ANumberThatALoopGoesUpToBoundsIt) {
  EXPECT_EQ(part_of("for (int i = 0; i < k; ++i) g(i);"), LoopRole::bound);
  EXPECT_EQ(part_of("int left = 3 * k; while (left > 0) --left;"), LoopRole::bound);
  EXPECT_EQ(part_of("const int side = k / 2; int all = side * side;\n"
                    "for (int i = -side; i <= all; ++i) g(i);"),
            LoopRole::bound);
}

TEST(LoopRole, OneThatALoopBeginsWithOrThatIsPassedOnIsNear) {
  EXPECT_EQ(part_of("for (int i = k; i < n; ++i) g(i);"), LoopRole::near);
  EXPECT_EQ(part_of("for (int i = 0; i < n; i += k) g(i);"), LoopRole::near);
  EXPECT_EQ(part_of("const int step = k; for (int i = step; i < n; ++i) g(i);"), LoopRole::near);
  EXPECT_EQ(part_of("g(twice(k));"), LoopRole::near);
}

TEST(LoopRole, OneThatIsOnlyReckonedWithHasNoneInLoops) {
  EXPECT_EQ(part_of("int h = ~k; for (int i = 0; i < n; ++i) h = h * 31 + i; g(h);"),
            LoopRole::none);
  EXPECT_EQ(part_of("for (int i = 0; i < n; ++i) y[i] = x[i] > k;"), LoopRole::none);
}

}  // namespace
}  // namespace kernelpro
