// What a patch leaves as it was.
#include <gmock/gmock.h>

#include <string>

#include "coordinator/app/own_layout.hpp"

namespace kernelpro {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

int times_in(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(Patch, RepeatsNoCommentOfCodeThatIsThereTwice) {
  const std::string original =
      "void f(const float* x, float* y, int n) {\n"
      "  // Every element.\n"
      "  for (int i = 0; i < n; ++i) {\n"
      "    // Twice.\n"
      "    y[i] = 2 * x[i];  // in place\n  }\n}\n";
  const std::string rewritten =
      "void f(const float* x, float* y, int n) {\n"
      "  int i = 0;\n"
      "  // Every element.\n"
      "  for (; i + 1 < n; i += 2) {\n"
      "    // Twice.\n"
      "    y[i] = 2 * x[i];  // in place\n"
      "    // Twice.\n"
      "    y[i + 1] = 2 * x[i + 1];  // in place\n  }\n"
      "  // The rest.\n"
      "  for (; i < n; ++i) {\n"
      "    // Twice.\n"
      "    y[i] = 2 * x[i];  // in place\n  }\n}\n";
  const std::string laid_out = in_layout_of(original, rewritten);
  for (const char* comment : {"// Every element.", "// Twice.", "// in place", "// The rest."}) {
    EXPECT_EQ(times_in(laid_out, comment), 1) << comment << "\n" << laid_out;
  }
}

TEST(Patch, LeavesBodiesWithoutBracesAsTheyAre) {
  const std::string untouched =
      "  for (int i = 0; i < n; ++i)\n    for (int j = 0; j < n; ++j)\n"
      "      if (i < j) y[i] = x[j]; else y[i] = 0;\n";
  const std::string original = "void f(const float* x, float* y, float* z, int n) {\n" + untouched +
                               "  for (int i = 0; i < n; ++i)\n    z[i] = 2 * z[i];\n}\n";
  const std::string rewritten =
      "void f(const float* x, float* y, float* z, int n) {\n"
      "  for (int i = 0; i < n; ++i) {\n    for (int j = 0; j < n; ++j) {\n"
      "      if (i < j) {\n        y[i] = x[j];\n      } else {\n        y[i] = 0;\n      }\n"
      "    }\n  }\n"
      "#pragma GCC ivdep\n"
      "  for (int i = 0; i < n; ++i) {\n    z[i] = 2 * z[i];\n  }\n}\n";
  const std::string laid_out = in_layout_of(original, rewritten);
  EXPECT_THAT(laid_out, HasSubstr(untouched));
  EXPECT_THAT(laid_out, HasSubstr("#pragma GCC ivdep\n"));
  EXPECT_THAT(laid_out, HasSubstr("++i)\n    z[i] = 2 * z[i];\n}\n"));
}

// Without these braces, `else` would belong to another `if`.
TEST(Patch, KeepsBracesThatMeanSomething) {
  const std::string original = "int f(int a) {\n  if (a > 1)\n    a = 2;\n  return a;\n}\n";
  const std::string rewritten =
      "int f(int a) {\n  if (a > 1) {\n    if (a > 3)\n      a = 2;\n  } else {\n    a = 5;\n"
      "    a = 2;\n  }\n  return a;\n}\n";
  EXPECT_THAT(in_layout_of(original, rewritten), HasSubstr("if (a > 1) {"));
  const std::string two =
      "void g(int* x) {\n  for (int i = 0; i < 3; ++i)\n    x[i] = 1;\n"
      "  x[3] = 2;\n}\n";
  const std::string both =
      "void g(int* x) {\n  for (int i = 0; i < 3; ++i) {\n    x[i] = 1;\n"
      "  x[3] = 2;\n  }\n}\n";
  EXPECT_THAT(in_layout_of(two, both), HasSubstr("++i) {"));
}

}  // namespace
}  // namespace kernelpro
