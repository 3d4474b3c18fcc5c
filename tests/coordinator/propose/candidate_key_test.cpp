// Two candidates are the same when only comments and blanks differ.
#include "coordinator/propose/candidate_key.hpp"

#include <gtest/gtest.h>

namespace kernelpro {
namespace {

std::string key_of(const std::string& source, std::vector<std::string> options = {}) {
  Candidate candidate;
  candidate.source = source;
  candidate.options = std::move(options);
  return candidate_key(candidate);
}

TEST(CandidateKey, CommentsAndBlanksDoNotMatter) {
  const std::string plain = "int  f( int x ) {\n  return x ; }\n";
  EXPECT_EQ(key_of(plain), key_of("int f(int x){return x;}"));
  EXPECT_EQ(key_of(plain), key_of("// first\nint f(int x) { /* why */ return x; }  // last"));
}

TEST(CandidateKey, TheOrderOfOptionsDoesNotMatter) {
  EXPECT_EQ(key_of("x", {"-O3", "target"}), key_of("x", {"target", "-O3"}));
  EXPECT_NE(key_of("x", {"-mllvm", "-polly", "-O3"}), key_of("x", {"-mllvm", "-O3", "-polly"}));
}

TEST(CandidateKey, EverythingElseMatters) {
  EXPECT_NE(key_of("int f() { return 1; }"), key_of("int f() { return 2; }"));
  EXPECT_NE(key_of("x = a - -b;"), key_of("x = a--b;"));
  EXPECT_NE(key_of("x = a / *b;"), key_of("x = a;"));
  EXPECT_NE(key_of("f(\"a  b\");"), key_of("f(\"a b\");"));
  EXPECT_NE(key_of("f(\"// a\");"), key_of("f(\"// b\");"));
  EXPECT_NE(key_of("int x;", {"-O2"}), key_of("int x;", {"-O3"}));
}

TEST(CandidateKey, LinesOfThePreprocessorStayLines) {
  EXPECT_EQ(normalized_source("#define A 1\nint x;\n"), "#define A 1\nint x;");
  EXPECT_NE(key_of("#define A\nB\n"), key_of("#define A B\n"));
  EXPECT_EQ(normalized_source("int x;\n  #pragma omp simd // fast\nint y;"),
            "int x;\n#pragma omp simd\nint y;");
}

TEST(CandidateKey, DigitSeparatorsAreNoLiterals) {
  EXPECT_EQ(normalized_source("int x = 1'000; // a\nint y = 'a';"), "int x=1'000;int y='a';");
}

TEST(CandidateKey, EndsThatAreMissingDoNoHarm) {
  EXPECT_EQ(normalized_source("int x; /* never closed"), "int x;");
  EXPECT_EQ(normalized_source("f(\"never closed"), "f(\"never closed");
  EXPECT_EQ(normalized_source(""), "");
}

}  // namespace
}  // namespace kernelpro
