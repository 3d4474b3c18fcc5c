#include "coordinator/report/markdown.hpp"

#include <gtest/gtest.h>

namespace kernelpro {
namespace {

TEST(MarkdownTable, WhatACellHoldsStaysInIt) {
  EXPECT_EQ(markdown_table({"a", "b"}, {{"x|y", "two\nlines"}, {R"(\|)", R"(c:\d)"}}),
            "| a | b |\n"
            "|---|---|\n"
            R"(| x\|y | two lines |)"
            "\n"
            R"(| \\\| | c:\d |)"
            "\n");
}

}  // namespace
}  // namespace kernelpro
