#include "common/base/printable.hpp"

#include <gtest/gtest.h>

namespace kernelpro {
namespace {

TEST(Printable, LeavesWhatIsShownAsItIs) {
  const std::string text = "1.5 \u00d7 gr\u00f6\u00dfer \u2026 \u2192 \u65e5\u672c\u8a9e";
  EXPECT_EQ(printable(text), text);
}

TEST(Printable, ShowsNothingThatATerminalObeys) {
  EXPECT_EQ(printable("a\x1b[2Jb\x7f\u009b1mc\r"), "a?[2Jb??1mc ");
  EXPECT_EQ(printable("a\nb\tc"), "a b c");
  EXPECT_EQ(printable_lines("a\nb\tc"), "a\nb\tc");
}

TEST(Printable, TurnsNoTextAround) {
  EXPECT_EQ(printable("a\u202eb\u2066c\u2069d\u200fe\u061cf"), "a?b?c?d?e?f");
  EXPECT_EQ(printable_lines("a\u2028b\u2029c"), "a?b?c") << "ends of lines of other kinds";
}

TEST(Printable, BearsTextThatEndsWithinACharacter) {
  for (const char* text : {"\xc2", "\xe2", "\xe2\x80", "\xd8"}) {
    EXPECT_EQ(printable(text), text);
  }
}

}  // namespace
}  // namespace kernelpro
