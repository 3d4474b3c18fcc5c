#include "common/model/tunables.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string source =
    "#include <cstdint>\n"
    "// kp:tune BLOCK = 16 32 64\n"
    "constexpr int64_t BLOCK = 32;\n"
    "\n"
    "  //kp:tune  UNROLL=1 -2 4  \r\n"
    "#  define UNROLL 4  // how often\n"
    "// kp:tune WIDE = 8 16\n"
    "static constexpr std::uint64_t WIDE = 8ULL;\n"
    "int f() { return 32; }";

std::string error_of(const std::string& text) {
  const Result<std::vector<Tunable>> parsed = parse_tunables(text);
  return parsed.ok() ? "no error" : parsed.error().text();
}

TEST(TunablesTest, AreReadWithValuesPresentValueAndLine) {
  const Result<std::vector<Tunable>> parsed = parse_tunables(source);
  ASSERT_TRUE(parsed.ok()) << parsed.error().text();
  EXPECT_THAT(*parsed,
              ElementsAre(Tunable{"BLOCK", {16, 32, 64}, 32, 2},
                          Tunable{"UNROLL", {1, -2, 4}, 4, 5}, Tunable{"WIDE", {8, 16}, 8, 7}));
}

// In time that grows with their number alone: by comparing each with each, these take longer than a
// test may.
TEST(TunablesTest, AnyNumberOfThemAndOfTheirValuesIsRead) {
  constexpr std::int64_t values = 200'000;
  std::string text = "// kp:tune A =";
  for (std::int64_t i = 0; i < values; ++i) {
    text += " " + std::to_string(i);
  }
  text += "\n#define A 1\n";
  const Result<std::vector<Tunable>> wide = parse_tunables(text);
  ASSERT_TRUE(wide.ok()) << wide.error().text();
  EXPECT_EQ(std::ssize(wide->at(0).values), values);

  constexpr int names = 30'000;
  std::string many;
  std::map<std::string, std::int64_t> wanted;
  for (int i = 0; i < names; ++i) {
    const std::string name = "A" + std::to_string(i);
    many += "// kp:tune " + name + " = 1 22\n#define " + name + " 1\n";
    wanted[name] = 22;
  }
  const Result<std::string> set = set_tunables(many, wanted);
  ASSERT_TRUE(set.ok()) << set.error().text();
  const Result<std::vector<Tunable>> read = parse_tunables(*set);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(std::ssize(*read), names);
  EXPECT_TRUE(std::ranges::all_of(*read, [](const Tunable& one) { return one.current == 22; }));
}

TEST(TunablesTest, ASourceWithoutThemHasNone) {
  for (const char* text : {"", "int f();\n", "// kp:options -O3\nint f();", "// see kp:tune\n"}) {
    const Result<std::vector<Tunable>> parsed = parse_tunables(text);
    ASSERT_TRUE(parsed.ok()) << parsed.error().text();
    EXPECT_TRUE(parsed->empty());
  }
}

TEST(TunablesTest, SettingOnesReplacesTheNumbersAlone) {
  const Result<std::string> set = set_tunables(source, {{"BLOCK", 128}, {"UNROLL", -2}});
  ASSERT_TRUE(set.ok()) << set.error().text();
  std::string expected = source;
  expected.replace(expected.find("= 32;"), 5, "= 128;");
  expected.replace(expected.find("UNROLL 4"), 8, "UNROLL -2");
  EXPECT_EQ(*set, expected);
  const Result<std::string> wide = set_tunables(source, {{"WIDE", 16}});
  ASSERT_TRUE(wide.ok()) << wide.error().text();
  EXPECT_THAT(*wide, HasSubstr("WIDE = 16ULL;"));
}

TEST(TunablesTest, WhatWasSetIsReadBack) {
  const Result<std::string> set = set_tunables(source, {{"BLOCK", 7}, {"UNROLL", 1}, {"WIDE", 9}});
  ASSERT_TRUE(set.ok()) << set.error().text();
  const Result<std::vector<Tunable>> parsed = parse_tunables(*set);
  ASSERT_TRUE(parsed.ok()) << parsed.error().text();
  EXPECT_EQ((*parsed)[0].current, 7);
  EXPECT_EQ((*parsed)[1].current, 1);
  EXPECT_EQ((*parsed)[2].current, 9);
}

TEST(TunablesTest, AnUnknownNameListsTheKnownOnes) {
  const Result<std::string> set = set_tunables(source, {{"TILE", 1}});
  ASSERT_FALSE(set.ok());
  EXPECT_EQ(set.error().text(), "TILE is not a tunable of this source; it has BLOCK, UNROLL, WIDE");
  const Result<std::string> none = set_tunables("int x;\n", {{"TILE", 1}});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().text(), "TILE is not a tunable of this source; it has none");
}

TEST(TunablesTest, AWrongCommentSaysItsLineAndWhatIsExpected) {
  const std::string expected = "expected \"// kp:tune NAME = 16 32 64\"";
  for (const char* comment :
       {"// kp:tune", "// kp:tune = 1 2", "// kp:tune A 1 2", "// kp:tune A =", "// kp:tune 4 = 1",
        "// kp:tune A = 1 x", "// kp:tune A = 1 2.5"}) {
    const std::string error = error_of(std::string("\n") + comment + "\nconstexpr int A = 1;\n");
    EXPECT_THAT(error, HasSubstr("line 2: " + expected)) << comment;
  }
}

TEST(TunablesTest, AWrongDefinitionSaysItsLineAndWhatIsExpected) {
  const std::string expected = "line 2: expected the definition of the tunable A right after";
  for (const char* definition :
       {"", "\nconstexpr int A = 1;", "constexpr int B = 1;", "constexpr int A = 1 + 1;",
        "constexpr int A = N;", "#define A (4)", "#define AB 4", "constexpr double A = 1.5;",
        "constexpr int A = 99999999999999999999;", "#undef A 4", "A = 4;"}) {
    EXPECT_THAT(error_of(std::string("// kp:tune A = 1 2\n") + definition), HasSubstr(expected))
        << definition;
  }
}

TEST(TunablesTest, ANameOrAValueTwiceIsAnError) {
  const std::string one = "// kp:tune A = 1 2\nconstexpr int A = 1;\n";
  EXPECT_THAT(error_of(one + one), HasSubstr("line 3: the tunable A stands already on line 1"));
  EXPECT_THAT(error_of("// kp:tune A = 1 2 1\nconstexpr int A = 1;\n"),
              HasSubstr("line 1: the value 1 stands there twice"));
}

}  // namespace
}  // namespace kernelpro
