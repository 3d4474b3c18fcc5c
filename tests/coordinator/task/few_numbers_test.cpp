#include "coordinator/task/few_numbers.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::int64_t> few(const std::string& body, const std::string& parameter = "k") {
  const std::string source =
      "enum { LINEAR = 3 };\nenum Way : char { FIRST, SECOND = 6, THIRD };\nconstexpr int kCubic = "
      "4;\n"
      "static int kind(char c) {\n  switch (c) {\n    case 'a': return 0;\n    case 'b':\n"
      "      return 1;\n  }\n  return -1;\n}\n"
      "static int order(int a, int b) { return a + b; }\n"
      "int f(const float* x, float* y, int n, int k, Box box) {\n" +
      body + "\n}\n";
  std::vector<std::int64_t> values;
  for (const Enumerator& one : few_numbers(source, "f", parameter)) {
    values.push_back(one.value);
  }
  return values;
}

TEST(FewNumbers, WhatIsAssertedIsAllThereIs) {
  EXPECT_THAT(few("assert(k == 1 || k == -1); y[0] = k * x[0];"), ElementsAre(1, -1));
  EXPECT_THAT(few("assert((k == 1 || k == 2 || k == 4) && \"depths\"); y[k] = x[0];"),
              ElementsAre(4, 2, 1));
  EXPECT_THAT(few("if (k != 3 && k != 5) { return -1; } y[0] = x[k];"), ElementsAre(5, 3));
  EXPECT_THAT(few("if (k != 3 && n != 5) return -1; y[0] = x[k];"), IsEmpty());
  EXPECT_THAT(few("assert(k == 1 || k > 4); y[0] = x[k];"), IsEmpty());
}

TEST(FewNumbers, WhatIsComparedAloneHasOneMoreNumberThanThose) {
  EXPECT_THAT(few("y[0] = k == 1 ? x[0] : k == LINEAR ? 0 : 2;"), ElementsAre(1, 3, 0));
  EXPECT_THAT(few("if (k != kCubic) y[0] = x[0];"), ElementsAre(4, 0));
  EXPECT_THAT(few("y[0] = 'N' == k ? x[0] : 0;"), ElementsAre('N', 'O'));
  EXPECT_THAT(few("if (k == 2) y[0] = x[k];"), IsEmpty()) << "it is used for something else too";
  EXPECT_THAT(few("for (int i = 0; i < k; ++i) y[i] = x[i];"), IsEmpty());
}

TEST(FewNumbers, LabelsAreAllOfThem) {
  EXPECT_THAT(few("switch (k) { case 1: y[0] = 1; break; case -2: y[0] = 2; default: ; }"),
              ElementsAre(1, -2));
  EXPECT_THAT(few("switch (k) { case FIRST: case THIRD: y[0] = 2; }"), ElementsAre(0, 7));
  EXPECT_THAT(few("const int which = kind(k); y[which] = x[0];"), ElementsAre('a', 'b'));
  EXPECT_THAT(few("y[order(n, k)] = x[0];"), IsEmpty());
}

TEST(FewNumbers, ASwitchIsOnAndOff) {
  EXPECT_THAT(few("if (k) y[0] = x[0];"), ElementsAre(1, 0));
  EXPECT_THAT(few("y[0] = !k && n > 1 ? x[0] : 0;"), ElementsAre(1, 0));
  EXPECT_THAT(few("y[0] = n * k ? 1 : 0;"), IsEmpty());
}

TEST(FewNumbers, ElementsAreComparedToo) {
  const auto elements = [](const std::string& body) {
    std::vector<std::int64_t> values;
    for (const Enumerator& one :
         few_elements("void f(const char* all, float* y, int n) {\n" + body + "}\n", "f", "all")) {
      values.push_back(one.value);
    }
    return values;
  };
  EXPECT_THAT(elements("for (int i = 0; i < n; ++i) y[i] = all[i] ? 1 : 2;"), ElementsAre(1, 0, 2));
  EXPECT_THAT(elements("const char* row = all + n; if (row[0] == 3) y[0] = 1;"), ElementsAre(3, 0));
  EXPECT_THAT(elements("switch (all[n - 1]) { case 0: y[0] = 1; break; case 1: y[0] = 2; }"),
              ElementsAre(0, 1));
  EXPECT_THAT(elements("y[0] = all[0] ? all[1] : 0;"), IsEmpty());
}

TEST(FewNumbers, AFieldIsAParameterOfItsOwn) {
  EXPECT_THAT(few("y[0] = box.k == 7 ? k : box.n;", "box.k"), ElementsAre(7, 0));
  EXPECT_THAT(few("y[0] = box.k == 7 ? k : box.n;", "k"), IsEmpty());
}

}  // namespace
}  // namespace kernelpro
