#include "common/model/pasted_headers.hpp"

#include <gtest/gtest.h>

namespace kernelpro {
namespace {

using ::testing::AllOf;

const std::string file =
    "#include \"a.h\"\nvoid mine(int n, Real* x) { x[0] = twice(x[1]) + LIMIT; }\n";
const std::string pasted =
    "// kp:include begin a.h #include \"a.h\"\n"
    "// #pragma once\n"
    "// kp:include begin b.h #include \"b.h\"\n"
    "#define LIMIT \\\n  7\n#define OTHER 8\n"
    "// kp:include end b.h\n"
    "typedef float Real;\n"
    "namespace deep::er {\nstruct Unused { int x; };\n}\n"
    "/* twice, in words: unused() */\n"
    "__launch_bounds__(256) inline Real half_of(Real v) { return v / '2'; }\n"
    "template <class T>\ninline T twice(T v) { return half_of(v) * 4; }\n"
    "inline Real unused(Real v) { return twice(v); }\n"
    "// kp:include end a.h\n"
    "void mine(int n, Real* x) { x[0] = twice(x[1]) + LIMIT; }\n";

TEST(PastedHeaders, AreTakenOutAndPutBack) {
  EXPECT_EQ(without_pasted(pasted), file);
  EXPECT_EQ(with_pasted(file, pasted), pasted);
  EXPECT_EQ(with_pasted("int x;\n" + file + "int y;\n", pasted), "int x;\n" + pasted + "int y;\n");
  EXPECT_EQ(with_pasted("int x;\n", pasted), "int x;\n");
  EXPECT_EQ(with_pasted(pasted, pasted), pasted) << "who keeps the marks has them already";
  EXPECT_EQ(without_pasted("int x;\n"), "int x;\n");
}

TEST(PastedHeaders, AreShownByWhatIsUsedOfThem) {
  EXPECT_EQ(used_of_pasted(pasted),
            "#define LIMIT \\\n  7\ntypedef float Real;\n"
            "__launch_bounds__(256) inline Real half_of(Real v) { return v / '2'; }\n"
            "template <class T>\ninline T twice(T v) { return half_of(v) * 4; }\n");
  EXPECT_EQ(used_of_pasted(file), "");
}

TEST(PastedHeaders, OfABrokenTextEndSomewhere) {
  for (const char* text : {"", "\n", "\"", "/*", "'", "{", "#define \\", "// kp:include end x"}) {
    EXPECT_EQ(used_of_pasted(text), "") << text;
    EXPECT_EQ(used_of_pasted("// kp:include begin x #include \"x\"\n" + std::string(text) +
                             "\n// kp:include end x\n"),
              "")
        << text;
  }
}

}  // namespace
}  // namespace kernelpro
