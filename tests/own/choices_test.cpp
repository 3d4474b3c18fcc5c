// Numbers that are one of a few: enums, bools, and names that a namespace keeps to itself.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "own/learned.hpp"

namespace kernelpro {
namespace {

using namespace own_tests;

using ::testing::Contains;
using ::testing::ElementsAre;

class OwnChoices : public LearnedTask {};

bool is_axis(const Task& task, const std::string& name) {
  return std::ranges::find(task.axes, name, &AxisSpec::name) != task.axes.end();
}

TEST_F(OwnChoices, AnEnumIsEachOfItsEnumerators) {
  const Task task = learned("round.cpp",
                            "#include <cmath>\n"
                            "#include <cstdint>\n"
                            "namespace num {\n"
                            "enum class Rounding : std::uint8_t { Down = 2, Up = 5, Nearest };\n"
                            "void whole(const double* x, double* y, long n, Rounding how) {\n"
                            "  for (long i = 0; i < n; ++i) {\n"
                            "    switch (how) {\n"
                            "      case Rounding::Down: y[i] = std::floor(x[i]); break;\n"
                            "      case Rounding::Up: y[i] = std::ceil(x[i]); break;\n"
                            "      case Rounding::Nearest: y[i] = std::floor(x[i] + 0.5);\n"
                            "    }\n  }\n}\n}\n",
                            "num::whole", sized({{"n", 4000}}));
  ASSERT_TRUE(is_axis(task, "how_choice"));
  EXPECT_EQ(task.held_out.at("how_choice").low, 1);
  EXPECT_EQ(task.held_out.at("how_choice").high, 3);
  EXPECT_EQ(task.timed_shapes.at(0).at("how_choice"), 1);
  EXPECT_THAT(task.entry->arguments, Contains("2 + 3*((how_choice + 1)/3) + how_choice/3"));
}

TEST_F(OwnChoices, WhatAnEnumeratorDoesElsewhereIsLeftOut) {
  const Task task = learned("walk.cpp",
                            "enum Walk { ROWS, COLUMNS, BACK };\n"
                            "void walk(const float* x, float* y, int m, int n, Walk way) {\n"
                            "  for (int i = 0; i < m; ++i)\n    for (int j = 0; j < n; ++j)\n"
                            "      y[i * n + j] = way == ROWS ? 2 * x[i * n + j]\n"
                            "                   : way == BACK ? 2 * x[(m - 1 - i) * n + j]\n"
                            "                                 : x[2 * (i * n + j)];\n}\n",
                            "walk", sized({{"m", 64}, {"n", 64}}));
  EXPECT_THAT(task.entry->arguments, Contains("2*(way_choice/2)"));
}

TEST_F(OwnChoices, ABoolIsBoth) {
  const Task task = learned("clip.cpp",
                            "void clip(const float* x, float* y, int n, bool low) {\n"
                            "  for (int i = 0; i < n; ++i)\n"
                            "    y[i] = low && x[i] < 0 ? 0 : 2 * x[i];\n}\n",
                            "clip", sized({{"n", 4000}}));
  EXPECT_EQ(task.held_out.at("low_choice").high, 2);
  EXPECT_THAT(task.entry->arguments, Contains("1 - low_choice/2"));
}

TEST_F(OwnChoices, AnEnumInAnArrayOfStructsHasNoOtherNumbers) {
  const Task task = learned("bill.cpp",
                            "namespace shop {\n"
                            "enum Rate { FULL, HALF, NONE };\n"
                            "struct Item {\n  double price;\n  Rate rate;\n};\n"
                            "void bill(const Item* items, int n, double* to_pay) {\n"
                            "  for (int i = 0; i < n; ++i)\n"
                            "    to_pay[i] = items[i].rate == FULL ? items[i].price\n"
                            "              : items[i].rate == HALF ? items[i].price / 2 : 0;\n"
                            "}\n}\n",
                            "shop::bill", sized({{"n", 4000}}));
  const TensorSpec& rate = tensor(task, "items_rate");
  EXPECT_EQ(rate.values.low, 0);
  EXPECT_EQ(rate.values.high, 2);
}

TEST_F(OwnChoices, NamesOfTheFunctionsOwnNamespaceAreFound) {
  const Task task = learned("tally.cpp",
                            "#include <cstdint>\n"
                            "namespace poll {\n"
                            "using count_t = std::uint64_t;\n"
                            "struct Tally {\n  count_t less;\n  count_t more;\n};\n"
                            "namespace detail {\n"
                            "Tally tally(const double* x, long n) {\n"
                            "  Tally out{0, 0};\n"
                            "  for (long i = 0; i < n; ++i) ++(x[i] < 0 ? out.less : out.more);\n"
                            "  return out;\n}\n}\n}\n",
                            "poll::detail::tally", sized({{"n", 4000}}));
  EXPECT_THAT(shape_of(task.outputs.at(0)), ElementsAre("1", "2"));
}

TEST_F(OwnChoices, ATypedefBehindAPointerIsSeenThroughInAFunctionOfC) {
  const Task task = learned("gain.cpp",
                            "#include <cstdint>\n"
                            "typedef std::int16_t sample_t;\n"
                            "extern \"C\" void gain(const sample_t* x, sample_t* y, int n) {\n"
                            "  for (int i = 0; i < n; ++i) y[i] = (sample_t)(x[i] / 2);\n}\n",
                            "gain", sized({{"n", 4000}}));
  EXPECT_EQ(task.outputs.at(0).dtype, DType::i16);
}

}  // namespace
}  // namespace kernelpro
