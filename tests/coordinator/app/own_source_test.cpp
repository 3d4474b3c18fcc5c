#include "coordinator/app/own_source.hpp"

#include <gtest/gtest.h>

namespace kernelpro {
namespace {

const std::string written =
    "#include <math.h>\n"
    "\n"
    "// kp:tune UNROLL = 2 4 8\n"
    "constexpr int UNROLL = 4;\n"
    "static const int other = 3; /* constexpr int UNROLL = 4; */\n"
    "void f(int n);\n";

TEST(OwnSource, WhatOnlyASearchReadsStaysBehind) {
  EXPECT_EQ(brought_home(written, "", false),
            "#include <math.h>\n"
            "\n"
            "constexpr int UNROLL = 4;\n"
            "static const int other = 3; /* constexpr int UNROLL = 4; */\n"
            "void f(int n);\n");
}

TEST(OwnSource, ConstantsInCAreThoseOfC) {
  EXPECT_EQ(brought_home(written, "", true),
            "#include <math.h>\n"
            "\n"
            "enum { UNROLL = 4 };\n"
            "static const int other = 3; /* constexpr int UNROLL = 4; */\n"
            "void f(int n);\n");
  EXPECT_EQ(brought_home("int x;", "", true), "int x;");
  EXPECT_EQ(brought_home("", "", true), "");
}

TEST(OwnSource, ListsOfValuesThatTheUserHadStay) {
  const std::string own = "// kp:tune BLOCK = 8 16\nconstexpr int BLOCK = 8;\n";
  const std::string searched = "// kp:tune UNROLL = 2 4\nconstexpr int UNROLL = 2;\n";
  EXPECT_EQ(brought_home(own + searched, own, false), own + "constexpr int UNROLL = 2;\n");
  EXPECT_EQ(brought_home(own + searched, own, true), own + "enum { UNROLL = 2 };\n");
}

}  // namespace
}  // namespace kernelpro
