#include "common/base/cpp_text.hpp"

#include <gmock/gmock.h>

#include <string>

namespace kernelpro {
namespace {

// What of `source` is skipped at its `|`, which is taken out first.
std::string skipped(std::string source) {
  const std::size_t at = source.find('|');
  source.erase(at, 1);
  return source.substr(at, behind_quoted(source, at) - at);
}

TEST(BehindQuoted, CommentsStringsAndCharactersAreSkippedWhole) {
  EXPECT_EQ(skipped("a |// b \"c\nd"), "// b \"c");
  EXPECT_EQ(skipped("a |/* b\n// */ c"), "/* b\n// */");
  EXPECT_EQ(skipped("|\"a\\\"/*\" b"), "\"a\\\"/*\"");
  EXPECT_EQ(skipped("|'\\'' b"), "'\\''");
  EXPECT_EQ(skipped("|R\"x(a)\" \n)x\" b"), "R\"x(a)\" \n)x\"");
  EXPECT_EQ(skipped("|code"), "");
  EXPECT_EQ(skipped("a |/ b"), "");
}

TEST(BehindQuoted, AQuoteBetweenDigitsSeparatesThemAndAPrefixedOneDoesNot) {
  EXPECT_EQ(skipped("120|'000;"), "");
  EXPECT_EQ(skipped("1|'0'0;"), "");
  EXPECT_EQ(skipped("0xff|'ff;"), "");
  EXPECT_EQ(skipped("u8|'a';"), "'a'");
  EXPECT_EQ(skipped("L|'a';"), "'a'");
}

TEST(BehindQuoted, WhatIsNeverClosedEndsWithItsLineOrTheSource) {
  EXPECT_EQ(skipped("|\"a\nb"), "\"a\n");
  EXPECT_EQ(skipped("|'a"), "'a");
  EXPECT_EQ(skipped("|\"a\\"), "\"a\\");
  EXPECT_EQ(skipped("|/* a\nb"), "/* a\nb");
  EXPECT_EQ(skipped("|/*/ a"), "/*/ a");
  EXPECT_EQ(skipped("|R\"(a)"), "R\"(a)");
  EXPECT_EQ(skipped("|R\"a"), "R\"a");
}

}  // namespace
}  // namespace kernelpro
