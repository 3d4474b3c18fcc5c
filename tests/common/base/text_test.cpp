#include "common/base/text.hpp"

#include <gtest/gtest.h>

namespace kernelpro {
namespace {

TEST(Text, IsTrimmedAtItsEndsAlone) {
  EXPECT_EQ(trimmed("  a b\t\r\n"), "a b");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(" \t\r\n "), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Text, IsTrimmedOfOtherLettersWhereTheyAreNamed) {
  EXPECT_EQ(trimmed("\"a \"", "\""), "a ");
  EXPECT_EQ(trimmed(" a", "\""), " a");
}

TEST(Text, WordsAreOfAsciiAlone) {
  for (const char letter : {'a', 'z', 'A', 'Z', '_', '0', '9'}) {
    EXPECT_TRUE(is_word(letter)) << letter;
  }
  for (const char letter : {' ', '-', '@', '[', '`', '{', '/', ':', '\0', '\xe4'}) {
    EXPECT_FALSE(is_word(letter)) << static_cast<int>(letter);
  }
  EXPECT_TRUE(is_digit('0'));
  EXPECT_TRUE(is_digit('9'));
  EXPECT_FALSE(is_digit('/'));
  EXPECT_FALSE(is_digit(':'));
}

}  // namespace
}  // namespace kernelpro
