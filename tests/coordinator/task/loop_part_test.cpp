#include <gtest/gtest.h>

#include <string>

#include "coordinator/task/function_body.hpp"

namespace kernelpro {
namespace {

LoopPart part_of(const std::string& body) {
  const std::string source =
      "static int twice(int a) { return 2 * a; }\nvoid f(int n, int k) {\n" + body + "\n}\n";
  return part_in_loops(source, "f", "k");
}

TEST(LoopPart, ANumberThatALoopGoesUpToBoundsIt) {
  EXPECT_EQ(part_of("for (int i = 0; i < k; ++i) g(i);"), LoopPart::bound);
  EXPECT_EQ(part_of("int left = 3 * k; while (left > 0) --left;"), LoopPart::bound);
  EXPECT_EQ(part_of("const int side = k / 2; int all = side * side;\n"
                    "for (int i = -side; i <= all; ++i) g(i);"),
            LoopPart::bound);
}

TEST(LoopPart, OneThatALoopBeginsWithOrThatIsPassedOnIsNear) {
  EXPECT_EQ(part_of("for (int i = k; i < n; ++i) g(i);"), LoopPart::near);
  EXPECT_EQ(part_of("for (int i = 0; i < n; i += k) g(i);"), LoopPart::near);
  EXPECT_EQ(part_of("const int step = k; for (int i = step; i < n; ++i) g(i);"), LoopPart::near);
  EXPECT_EQ(part_of("g(twice(k));"), LoopPart::near);
}

TEST(LoopPart, OneThatIsOnlyReckonedWithHasNoneInLoops) {
  EXPECT_EQ(part_of("int h = ~k; for (int i = 0; i < n; ++i) h = h * 31 + i; g(h);"),
            LoopPart::none);
  EXPECT_EQ(part_of("for (int i = 0; i < n; ++i) y[i] = x[i] > k;"), LoopPart::none);
}

}  // namespace
}  // namespace kernelpro
