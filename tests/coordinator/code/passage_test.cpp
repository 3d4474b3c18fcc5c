#include "coordinator/code/passage.hpp"

#include <gtest/gtest.h>

namespace kernelpro::code {
namespace {

constexpr const char* text =
    "// tma\n"
    "int a;\n"
    "int b;\n"
    "void load() {\n"
    "  tma_load(barrier);\n"
    "}\n"
    "int barrier;\n";

TEST(Passage, IsWhereTheWordsStandTogether) {
  const Lines lines = best_lines(text, {{.forms = {"tma"}}, {.forms = {"barrier"}}}, 3);
  EXPECT_EQ(lines, (Lines{.first = 5, .last = 7}));
}

TEST(Passage, PrefersTheRarerWord) {
  EXPECT_EQ(
      best_lines(text, {{.forms = {"load"}, .weight = 1}, {.forms = {"int"}, .weight = 0.1}}, 1),
      (Lines{.first = 4, .last = 4}));
}

TEST(Passage, OfATextWithoutTheWordsIsItsFirstLine) {
  EXPECT_EQ(best_lines(text, {{.forms = {"wgmma"}}}, 3), (Lines{.first = 1, .last = 1}));
  EXPECT_EQ(best_lines("", {{.forms = {"wgmma"}}}, 3), (Lines{.first = 1, .last = 1}));
}

TEST(Passage, IsCutByLines) {
  EXPECT_EQ(cut_lines(text, {.first = 2, .last = 3}), "int a;\nint b;\n");
  EXPECT_EQ(cut_lines("one", {.first = 1, .last = 9}), "one\n");
  EXPECT_EQ(count_lines(text), 7);
}

}  // namespace
}  // namespace kernelpro::code
