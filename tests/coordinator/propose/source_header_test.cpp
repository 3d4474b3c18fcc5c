#include "coordinator/propose/source_header.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SourceHeader, NamesCompilerAndOptionsInTheFirstComments) {
  const SourceHeader header = read_source_header(
      "// A comment.\n\n// kp:compiler clang++-19\n// kp:options -O3 target\n// kp:options openmp\n"
      "#include <cstdint>\n");
  EXPECT_EQ(header.compiler, "clang++-19");
  EXPECT_THAT(header.options, ElementsAre("-O3", "target", "openmp"));
}

TEST(SourceHeader, EndsAtTheFirstLineOfCode) {
  const SourceHeader header =
      read_source_header("#include <cstdint>\n// kp:compiler nvcc\n// kp:options -O3\n");
  EXPECT_EQ(header.compiler, "");
  EXPECT_THAT(header.options, IsEmpty());
}

TEST(SourceHeader, TakesLinesThatAreWrittenALittleOtherwise) {
  const SourceHeader header = read_source_header(
      "\xEF\xBB\xBF \n//kp:compiler g++\r\n  //  kp:options -O3 target // both help\nint x;\n");
  EXPECT_EQ(header.compiler, "g++");
  EXPECT_THAT(header.options, ElementsAre("-O3", "target"));
}

TEST(SourceHeader, TellsNoOptionsFromNoLineAboutThem) {
  EXPECT_TRUE(read_source_header("// kp:options\nint x;\n").names_options);
  EXPECT_TRUE(read_source_header("// kp:options // none\n").names_options);
  EXPECT_THAT(read_source_header("// kp:options // none\n").options, IsEmpty());
  EXPECT_FALSE(read_source_header("// kp:compiler g++\nint x;\n").names_options);
}

TEST(SourceHeader, IgnoresLinesThatOnlyMentionItsWords) {
  const SourceHeader header =
      read_source_header("// see kp:compiler nvcc\n// kp:optionsO3 x\n// kp:tune A = 1 2\n");
  EXPECT_EQ(header.compiler, "");
  EXPECT_THAT(header.options, IsEmpty());
}

TEST(SourceHeader, ComesFirstFromAmongTheLeadingLines) {
  const std::string plain = "// Mine.\n\n// kp:options -O3\n#include <cmath>\nint x;\n";
  EXPECT_EQ(with_header_first(plain), plain);
  EXPECT_EQ(with_header_first("\xEF\xBB\xBF" + plain), plain);
  EXPECT_EQ(with_header_first("int x;"), "int x;");
  EXPECT_EQ(with_header_first("#pragma once\n#define A \\\n  1\n//kp:options -O3  target\nint x;"),
            "// kp:options -O3 target\n#pragma once\n#define A \\\n  1\nint x;");
  EXPECT_EQ(
      with_header_first("/* A\n// kp:options -O1\n*/\n \n// kp:options\n// kp:compiler nvcc\n"),
      "// kp:compiler nvcc\n// kp:options\n/* A\n// kp:options -O1\n*/\n \n");
}

TEST(SourceHeader, IsNoPartOfAMacro) {
  for (const std::string line : {"#define A \\\n// kp:options -O3\nint x;\n",
                                 "#define A \\\r\n// kp:options -O3\r\nint x;\r\n",
                                 "#pragma once\n#define A 1 + \\\n  // kp:compiler nvcc\nint x;\n",
                                 "// a comment \\\n// kp:options -O3\nint x;\n",
                                 "#pragma once\n// kp:options -O3 \\\nint x;\n"}) {
    EXPECT_EQ(with_header_first(line), line);
  }
  EXPECT_FALSE(read_source_header("// a comment \\\n// kp:options -O3\nint x;\n").names_options);
}

TEST(SourceHeader, IsNotLookedForBehindTheFirstLineOfCode) {
  for (const char* source : {"int x;\n// kp:options -O3\n", "/* a */ int x;\n//kp:options -O3\n"}) {
    EXPECT_EQ(with_header_first(source), source);
  }
}

}  // namespace
}  // namespace kernelpro
