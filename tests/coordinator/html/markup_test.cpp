#include "coordinator/html/markup.hpp"

#include <gmock/gmock.h>

#include "coordinator/html/tags.hpp"

namespace kernelpro::html {
namespace {

TEST(Markup, TextCannotEndATagOrAnAttribute) {
  EXPECT_EQ(escaped("<script>alert('x') & \"y\"</script>"),
            "&lt;script&gt;alert(&#39;x&#39;) &amp; &quot;y&quot;&lt;/script&gt;");
  EXPECT_EQ(element("p", {{"title", "\"><b onload='1'>"}}, "a<b").str(),
            "<p title=\"&quot;&gt;&lt;b onload=&#39;1&#39;&gt;\">a&lt;b</p>");
}

TEST(Markup, OrdinaryTextStaysAsItIs) {
  EXPECT_EQ(escaped("µs × 2 → \t3\nend 😀"), "µs × 2 → \t3\nend 😀");
}

TEST(Markup, BytesThatAreNoTextAreShownAsSuch) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(escaped("a\xFF"
                    "b"),
            "a" + bad + "b");
  EXPECT_EQ(escaped("\xC3"), bad) << "cut off";
  EXPECT_EQ(escaped("\xC0\xBC"), bad + bad) << "a < in two bytes";
  EXPECT_EQ(escaped("\xED\xA0\x80"), bad + bad + bad) << "half of a pair";
  EXPECT_EQ(escaped(std::string_view("\0\x1b[2J", 5)), bad + bad + "[2J");
  EXPECT_EQ(escaped("\xC2\x9B"), bad) << "an escape of one byte";
}

TEST(Markup, WhatTurnsOrHidesTextIsNamed) {
  EXPECT_EQ(escaped("a\u202E"
                    "b\u2066"
                    "c\u200B"
                    "d"),
            "a[U+202E]b[U+2066]c[U+200B]d");
}

}  // namespace
}  // namespace kernelpro::html
