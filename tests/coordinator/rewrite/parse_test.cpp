#include "coordinator/rewrite/parse.hpp"

#include <gmock/gmock.h>

#include "coordinator/rewrite/fixture.hpp"

namespace kernelpro {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::parse_settings;
using testing::parsed;
using testing::task_folders;
using testing::text_of;

// What a source looks like when it is parsed and printed.
std::string printed(const std::string& source) {
  return print_program(parsed(source));
}

std::string body_of(const std::string& statements) {
  const std::string head = "void f(int n, float* x, const float* y) ";
  const std::string text = printed(head + "{" + statements + "}");
  return text.substr(text.find("{\n") + 2);
}

int understood(const Program& program) {
  int count = 0;
  for (const Item& item : program.items) {
    count += item.understood ? 1 : 0;
  }
  return count;
}

TEST(ParseTest, EveryBaselinePrintsToWhatItWasParsedFrom) {
  ASSERT_FALSE(task_folders().empty());
  for (const std::filesystem::path& folder : task_folders()) {
    const Program first = parsed(text_of(folder / "baseline.cpp"));
    EXPECT_GE(understood(first), 1) << folder;
    const std::string text = print_program(first);
    EXPECT_EQ(parsed(text), first) << text;
  }
}

TEST(ParseTest, AdapterAroundAFunctionOfTheUserStaysText) {
  const std::string block =
      "// kp:adapter begin\nextern \"C\" int kp_launch(const kp_context* context, const kp_tensor* "
      "t, int32_t) {\n  f(static_cast<int>(context->axes[0]),   static_cast<float*>(t[0].data));\n"
      "  return 0;\n}\n// kp:adapter end\n";
  const Program program = parsed(
      "#include \"kernelpro/candidate.h\"  // kp:adapter\n// Mine.\nvoid f(int n, float* x) {\n  "
      "for "
      "(int i = 0; i < n; ++i) x[i] = 1;\n}\n" +
      block);
  EXPECT_EQ(understood(program), 1);
  const std::string text = print_program(program);
  EXPECT_TRUE(text.ends_with("}\n" + block)) << text;
  EXPECT_TRUE(text.starts_with("#include \"kernelpro/candidate.h\"  // kp:adapter\n")) << text;
}

TEST(ParseTest, LoopsHaveVariableBoundsAndStep) {
  const Program program =
      parsed("void f(int n, float* x) { for (int i = 2; i <= n; i += 3) x[i] = 0; }");
  ASSERT_EQ(understood(program), 1);
  const Stmt& loop = program.items[0].function.body[0];
  ASSERT_EQ(loop.kind, Stmt::Kind::loop);
  EXPECT_EQ(loop.loop.variable, "i");
  EXPECT_EQ(loop.loop.type, "int");
  EXPECT_EQ(print_expr(loop.loop.lower), "2");
  EXPECT_EQ(loop.loop.comparison, "<=");
  EXPECT_EQ(print_expr(loop.loop.upper), "n");
  EXPECT_EQ(print_expr(loop.loop.step), "3");
  EXPECT_EQ(loop.body[0].exprs[0].type, "float");
}

TEST(ParseTest, AHeaderThatDoesNotCountStaysTextAndItsBodyIsUnderstood) {
  EXPECT_EQ(body_of("while (n > 0) { x[n] = 1; n = n - 1; }"),
            "  while (n > 0) {\n    x[n] = 1;\n    n = n - 1;\n  }\n}");
  EXPECT_EQ(body_of("for (int i = 0; i < n; ++i) { if (x[i] > 0) i += 1; }"),
            "  for (int i = 0; i < n; ++i) {\n    if (x[i] > 0) {\n      i += 1;\n    }\n  }\n}");
  EXPECT_THAT(body_of("for (;;) { x[0] = 1; break; }"),
              HasSubstr("for (;;) {\n    x[0] = 1;\n    break;"));
}

TEST(ParseTest, AnOffsetInAConditionMovesToTheBound) {
  EXPECT_THAT(body_of("for (int i = 1; i + 1 < n; ++i) x[i] = 0;"),
              HasSubstr("for (int i = 1; i < n - 1; ++i)"));
  EXPECT_THAT(body_of("int k = 3; for (int i = 0; i + k <= n; ++i) x[i] = 0;"),
              HasSubstr("for (int i = 0; i < n + 1 - k; ++i)"));
  EXPECT_THAT(body_of("unsigned m = n; for (unsigned i = 0; i + 2 < m; ++i) x[i] = 0;"),
              HasSubstr("i < (m > 2 ? m - 2 : 0)"));
  EXPECT_THAT(body_of("for (int i = n; i + 1 > 0; --i) x[i] = 0;"), HasSubstr("i + 1 > 0"));
}

TEST(ParseTest, ContainersOfNumbersAreReadByIndex) {
  const std::string text = printed(
      "#include <span>\n#include <vector>\n"
      "float f(const std::vector<float>& x, std::span<float> y) {\n"
      "  float sum = 0;\n  for (float v : x) sum += v;\n  for (auto& v : y) v /= sum;\n"
      "  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i];\n"
      "  return sum;\n}\n");
  EXPECT_THAT(text, HasSubstr("for (std::size_t i = 0; i < x.size(); ++i) {\n    float v = x[i];"));
  EXPECT_THAT(text, HasSubstr("for (std::size_t i = 0; i < y.size(); ++i) {\n    y[i] /= sum;"));
  EXPECT_EQ(parsed(text), parsed(print_program(parsed(text))));
}

TEST(ParseTest, RangesThatAreNoNumbersStayText) {
  const std::string text = printed(
      "#include <map>\n#include <vector>\nint f(const std::map<int, int>& x, std::vector<bool>& "
      "y) {\n  int sum = 0;\n  for (const auto& [key, value] : x) sum += value;\n"
      "  for (bool b : y) sum += b;\n  return sum;\n}\n");
  EXPECT_THAT(text, HasSubstr("for (const auto& [key, value] : x)"));
  EXPECT_THAT(text, HasSubstr("for (bool b : y)"));
}

TEST(ParseTest, MembersAndTemplatesAreFunctions) {
  const Program program = parsed(
      "class A {\n public:\n  void f(float* x, int n) const { for (int i = 0; i < n; ++i) x[i] = "
      "half(x[i]); }\n private:\n  static float half(float v) { return v / 2; }\n};\n"
      "template <typename T> void g(T* x, int n) { for (int i = 0; i < n; ++i) x[i] += x[i]; }\n"
      "template void g<float>(float*, int);\ntemplate void g<double>(double*, int);\n");
  EXPECT_EQ(understood(program), 3);
  EXPECT_EQ(parsed(print_program(program)), program);
}

TEST(ParseTest, WhatCompilersAddToAClassIsNoFunction) {
  const std::string source =
      "#include <vector>\nstruct S {\n  std::vector<float> v;\n  S& operator=(const S&) = "
      "default;\n};\nstruct T {\n  S s;\n};\nvoid f(T& a, const T& b) {\n  a = b;\n}\n";
  EXPECT_EQ(printed(source), source);
}

TEST(ParseTest, TypedefsOfNumbersAreNumbers) {
  const std::string text = printed(
      "typedef float real;\nreal f(const real* x, int n) { real sum = 0; for (int i = 0; i "
      "< n; ++i) sum = x[i] * x[i] + sum; return sum; }\n");
  EXPECT_THAT(text, HasSubstr("sum += x[i] * x[i];"));
}

TEST(ParseTest, WhatIsNotUnderstoodStaysText) {
  EXPECT_THAT(body_of("do { x[--n] = 0; } while (n > 0);"),
              HasSubstr("do { x[--n] = 0; } while (n > 0);"));
  EXPECT_THAT(body_of("auto g = [&](int i) { return x[i]; }; x[0] = g(1);"),
              HasSubstr("auto g = [&](int i) { return x[i]; };"));
  EXPECT_THAT(body_of("switch (n) { case 1: x[0] = 1; break; default: break; }"),
              HasSubstr("switch (n) { case 1:"));
  EXPECT_THAT(body_of("*x++ = *y++;"), HasSubstr("*x++ = *y++;"));
}

TEST(ParseTest, ParenthesesKeepTheOrderOfOperations) {
  EXPECT_EQ(body_of("x[0] = (y[0] + y[1]) * (y[2] - (y[3] - y[4])) / -(-y[5]);"),
            "  x[0] = (y[0] + y[1]) * (y[2] - (y[3] - y[4])) / - -y[5];\n}");
  EXPECT_EQ(body_of("x[n & 3] = n > 1 && n < 4 || n == 7 ? 1 : (n << 2) + 1;"),
            "  x[n & 3] = (n > 1 && n < 4) || n == 7 ? 1 : (n << 2) + 1;\n}");
}

TEST(ParseTest, HiddenNamesGetNamesOfTheirOwn) {
  EXPECT_EQ(
      body_of("int i = 0; for (int i = 0; i < n; ++i) { x[i] = 1; } x[i] = 2;"),
      "  int i = 0;\n  for (int i_2 = 0; i_2 < n; ++i_2) {\n    x[i_2] = 1;\n  }\n  x[i] = 2;\n}");
}

TEST(ParseTest, PragmasStayInFrontOfTheirLoops) {
  const std::string source =
      "void f(int n, float* x) {\n"
      "#pragma omp parallel for \\\n    schedule(static)\n"
      "  for (int i = 0; i < n; ++i) {\n"
      "#pragma GCC unroll 4\n"
      "    for (int j = 0; j < 8; ++j) {\n      x[i * 8 + j] = 1;\n    }\n  }\n"
      "#pragma omp parallel\n"
      "  { x[0] = 1; }\n}\n";
  const std::string text = printed(source);
  EXPECT_THAT(text, HasSubstr("#pragma omp parallel for schedule(static)\n  for (int i"));
  EXPECT_THAT(text, HasSubstr("#pragma GCC unroll 4\n    for (int j"));
  EXPECT_THAT(text, HasSubstr("#pragma omp parallel\n{ x[0] = 1; }"));
}

TEST(ParseTest, TextBetweenFunctionsSurvives) {
  const std::string source =
      "// kp:options -O3\n#include <cstdint>\n// kp:tune N = 1 2\nconstexpr int N = 2;\n"
      "namespace {\nstruct S { int a; };\n/* about f */ int f(const S& s) {\n  return s.a * "
      "N;\n}\n}\n"
      "template <typename T> T twice(T x) {\n  return x + x;\n}\nint g() {\n  return f({3}) + "
      "twice(1);\n}\n// end";
  const Program program = parsed(source);
  EXPECT_EQ(understood(program), 3);
  EXPECT_EQ(print_program(program), source);
  EXPECT_EQ(program.head, "// kp:options -O3\n#include <cstdint>\n");
}

TEST(ParseTest, IncludesMayStandBelowCodeOrNotAtAll) {
  const Program below =
      parsed("int f() { return 1; }\n#include <cmath>\nfloat g(float x) { return std::exp(x); }\n");
  EXPECT_EQ(understood(below), 2);
  EXPECT_EQ(understood(parsed("int f() { return 1; }")), 1);
  EXPECT_EQ(understood(parsed("")), 0);
  const Program guarded = parsed("#ifdef NOPE\n#include <nope>\n#endif\nint f() { return 1; }\n");
  EXPECT_EQ(guarded.head, "#ifdef NOPE\n#include <nope>\n#endif\n");
}

TEST(ParseTest, MacrosStayAsTheyAreWritten) {
  const std::string source =
      "#include <cfloat>\n#define N 4\n#define SQUARE(x) ((x) * (x))\n"
      "void f(float* x) {\n  float m = -FLT_MAX;\n  for (int i = 0; i < N; ++i) {\n"
      "    m += SQUARE(x[i]) * N;\n  }\n  x[0] = m;\n}\n";
  EXPECT_EQ(printed(source), source);
}

TEST(ParseTest, FunctionsThatThePreprocessorCutsStayText) {
  const std::string source =
      "void f(float* x) {\n#ifdef FAST\n  x[0] = 1;\n#else\n    x[0] = 2;\n#endif\n}\n";
  EXPECT_EQ(understood(parsed(source)), 0);
  EXPECT_EQ(printed(source), source);
}

TEST(ParseTest, ASourceThatOnlyCompilesOutsideOfANamespaceStaysText) {
  const std::string source = "int f() { return 1; }\nint g() { return ::f(); }\n";
  EXPECT_EQ(printed(source), source);
}

TEST(ParseTest, TheAbiMayCallItself) {
  const std::string source =
      "#include \"kernelpro/candidate.h\"\n"
      "size_t kp_workspace(const kp_context* context, const kp_tensor* tensors, int32_t count) {\n"
      "  return 4;\n}\n"
      "extern \"C\" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t "
      "count) {\n"
      "  return context->workspace_bytes < kp_workspace(context, tensors, count);\n}\n";
  EXPECT_EQ(understood(parsed(source)), 2);
  EXPECT_EQ(printed(source), source);
}

TEST(ParseTest, ASourceThatDoesNotCompileIsRefusedWithTheLine) {
  const Result<Program> program =
      parse_program("#include <cstdint>\nint f() {\n  return nothing;\n}\n", parse_settings());
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().kind, ErrorKind::bad_input);
  EXPECT_THAT(program.error().text(), HasSubstr("the source does not compile"));
  EXPECT_THAT(program.error().text(), HasSubstr("candidate.cpp:3:"));
  EXPECT_THAT(program.error().text(), HasSubstr("undeclared identifier 'nothing'"));
}

TEST(ParseTest, ASourceCannotReadTheMachine) {
  const Result<Program> program = parse_program("#include \"/etc/hostname\"\n", parse_settings());
  ASSERT_FALSE(program.ok());
  EXPECT_THAT(program.error().text(), HasSubstr("/etc/hostname"));
  EXPECT_THAT(program.error().text(), Not(HasSubstr("expected unqualified-id")));
}

TEST(ParseTest, AMissingCompilerIsNamed) {
  ParseSettings settings = parse_settings();
  settings.clang = "/usr/bin/no-such-clang";
  const Result<Program> program = parse_program("int f();\n", settings);
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().kind, ErrorKind::environment);
  EXPECT_THAT(program.error().text(), HasSubstr("no-such-clang"));
}

}  // namespace
}  // namespace kernelpro
