// Whole numbers by value that are no sizes.
#include <gmock/gmock.h>

#include <string>

#include "own/learned.hpp"

namespace kernelpro {
namespace {

using namespace own_tests;

using ::testing::Contains;
using ::testing::ElementsAre;

class OwnValues : public LearnedTask {};

TEST_F(OwnValues, AStartValueIsAnyNumberOfItsType) {
  const Task task = learned("mix.cpp",
                            "#include <cstdint>\n"
                            "std::uint32_t mix(const std::uint32_t* x, int n, std::uint32_t h) {\n"
                            "  for (int i = 0; i < n; ++i) h = (h ^ x[i]) * 16777619u;\n"
                            "  return h;\n}\n",
                            "mix", sized({{"n", 4000}}));
  EXPECT_EQ(task.held_out.at("h_draw").high, std::int64_t{1} << 32);
  EXPECT_THAT(task.entry->arguments, Contains("h_draw - 1"));
}

TEST_F(OwnValues, AThresholdHasBothSigns) {
  const Task task = learned("over.cpp",
                            "#include <cstdint>\n"
                            "void over(const std::int16_t* x, std::uint8_t* y, int n, short t) {\n"
                            "  for (int i = 0; i < n; ++i) y[i] = x[i] > t;\n}\n",
                            "over", sized({{"n", 4000}}));
  EXPECT_EQ(task.held_out.at("t_draw").high, 65535);
  EXPECT_THAT(task.entry->arguments, Contains("t_draw/2*(1 - 2*(t_draw - t_draw/2*2))"));
}

// With larger ones it overflows.
TEST_F(OwnValues, ANumberThatIsAddedKeepsToWhatItTakes) {
  const Task task = learned("cost.cpp",
                            "void cost(const int* x, int* y, int n, int gap) {\n"
                            "  for (int i = 0; i < n; ++i) y[i] = x[i] / 1000 + i * gap * 1000;\n"
                            "}\n",
                            "cost", sized({{"n", 100}}));
  EXPECT_EQ(task.held_out.at("gap_draw").high, 2001);
}

TEST_F(OwnValues, StepsAreAsManyAsKeepACallShort) {
  const Task task = learned("smooth.cpp",
                            "void smooth(const float* x, float* y, int n, int times) {\n"
                            "  for (int i = 0; i < n; ++i) {\n    float v = x[i];\n"
                            "    for (int k = 0; k < times; ++k) v = v * 0.5f + x[i];\n"
                            "    y[i] = v;\n  }\n}\n",
                            "smooth");
  EXPECT_GE(task.held_out.at("times").high, 32);
  EXPECT_GE(task.timed_shapes.at(0).at("times"), 8);
  EXPECT_THAT(shape_of(tensor(task, "x")), ElementsAre("n"));
}

TEST_F(OwnValues, LettersThatChooseAreTheOnesComparedWith) {
  const Task task =
      learned("scale.cpp",
              "int scale(char how, int m, int n, const float* a, int lda, float* b) {\n"
              "  if (how != 'R' && how != 'C') return -1;\n"
              "  if (lda < n) return -5;\n"
              "  for (int i = 0; i < m; ++i)\n    for (int j = 0; j < n; ++j)\n"
              "      b[i * n + j] = a[i * lda + j] * (how == 'R' ? i : j);\n"
              "  return 0;\n}\n",
              "scale", sized({{"m", 40}, {"n", 50}}));
  EXPECT_THAT(task.entry->arguments, Contains("82 - 15*(how_choice/2)"));
  EXPECT_THAT(task.entry->arguments, Contains("lda"));
  EXPECT_THAT(shape_of(tensor(task, "a")), ElementsAre("(m - 1)*lda + n"));
  EXPECT_EQ(task.held_out.at("lda_room").high, 8) << "it refuses rows that overlap";
}

TEST_F(OwnValues, ElementsThatAreOnlyComparedAreTheseNumbers) {
  const Task task =
      learned("undo.cpp",
              "#include <cstdint>\n"
              "enum : std::uint8_t { KEEP, NEGATE, DOUBLE };\n"
              "bool undo(const std::uint8_t* kinds, const float* x, float* y, int m,\n"
              "          int n) {\n"
              "  for (int i = 0; i < m; ++i) {\n"
              "    float by = 1;\n"
              "    switch (kinds[i]) {\n      case KEEP: break;\n"
              "      case NEGATE: by = -1; break;\n"
              "      case DOUBLE: by = 2; break;\n      default: return false;\n"
              "    }\n"
              "    for (int j = 0; j < n; ++j) y[i * n + j] = by * x[i * n + j];\n"
              "  }\n  return true;\n}\n",
              "undo", sized({{"m", 40}, {"n", 50}}));
  EXPECT_EQ(tensor(task, "kinds").values.low, 0);
  EXPECT_EQ(tensor(task, "kinds").values.high, 2);
}

}  // namespace
}  // namespace kernelpro
