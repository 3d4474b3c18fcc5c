#include "coordinator/task/signature.hpp"

#include <gmock/gmock.h>

#include <string>

namespace kernelpro {
namespace {

using testing::HasSubstr;
using Role = EntryParameter::Role;

Signature parsed(const std::string& source) {
  auto signature = parse_signature(source, "f", "f.cpp");
  EXPECT_TRUE(signature.ok()) << signature.error().text();
  return signature.ok() ? *signature : Signature{};
}

std::string error_of(const std::string& source) {
  const auto signature = parse_signature(source, "f", "f.cpp");
  return signature.ok() ? "parsed" : signature.error().text();
}

TEST(Signature, TellsAxesScalarsInputsAndOutputs) {
  const auto f = parsed("int f(const int n, double alpha, const float* x, float* y) { return 0; }");
  EXPECT_EQ(f.returns, "int");
  EXPECT_EQ(f.text, "int f(const int n, double alpha, const float* x, float* y)");
  ASSERT_EQ(f.parameters.size(), 4U);
  EXPECT_EQ(f.parameters[0].role, Role::axis);
  EXPECT_EQ(f.parameters[0].type, "int");
  EXPECT_EQ(f.parameters[1].role, Role::scalar);
  EXPECT_EQ(f.parameters[1].dtype, DType::f64);
  EXPECT_EQ(f.parameters[2].role, Role::input);
  EXPECT_EQ(f.parameters[2].dtype, DType::f32);
  EXPECT_EQ(f.parameters[2].name, "x");
  EXPECT_EQ(f.parameters[3].role, Role::output);
}

TEST(Signature, KnowsTheSpellingsOfTypes) {
  const auto f = parsed(
      "extern \"C\" void f(std::size_t n, unsigned m, float const* __restrict__ a, const double "
      "b[],"
      " const long long int* c, std::int64_t const *restrict d, const unsigned char* e, int8_t "
      "g[16],"
      " short int* const h, long unsigned k) {}");
  ASSERT_EQ(f.parameters.size(), 10U);
  EXPECT_EQ(f.parameters[0].type, "std::size_t");
  EXPECT_EQ(f.parameters[1].role, Role::axis);
  EXPECT_EQ(f.parameters[2].role, Role::input);
  EXPECT_EQ(f.parameters[3].dtype, DType::f64);
  EXPECT_EQ(f.parameters[3].role, Role::input);
  EXPECT_EQ(f.parameters[4].dtype, DType::i64);
  EXPECT_EQ(f.parameters[4].type, "long long int");
  EXPECT_EQ(f.parameters[5].name, "d");
  EXPECT_EQ(f.parameters[6].dtype, DType::u8);
  EXPECT_EQ(f.parameters[7].dtype, DType::i8);
  EXPECT_EQ(f.parameters[8].role, Role::output);
  EXPECT_EQ(f.parameters[8].dtype, DType::i16);
  EXPECT_EQ(f.parameters[9].role, Role::axis);
}

TEST(Signature, IsNotFooledByCommentsStringsAndCalls) {
  const auto f = parsed(
      "// void f(int wrong) {}\n/* void f(int wrong) {} */\n#define F void f(int wrong) {}\n"
      "const char* text = \"void f(int wrong) {\"; const char* raw = R\"x(void f(int w) {)x\";\n"
      "void f(int n, float* y);\n"
      "void g(int n, float* y) { f(n, y); if (n) { f(n - 1, y); } }\n"
      "static inline __attribute__((noinline)) void f(int n /* size */, float* y = nullptr) {\n}");
  EXPECT_EQ(f.line, 7);
  ASSERT_EQ(f.parameters.size(), 2U);
  EXPECT_EQ(f.parameters[0].name, "n");
  EXPECT_EQ(f.parameters[1].name, "y");
}

struct Written {
  const char* source;
  const char* text;  // of the signature
  const char*
      roles;  // a letter for each parameter: axis, scalar, input, output, stream, flag, void
};

class SignatureTable : public testing::TestWithParam<Written> {};

TEST_P(SignatureTable, IsReadWhateverStandsAroundIt) {
  const auto f = parsed(GetParam().source);
  EXPECT_EQ(f.text, GetParam().text);
  std::string roles;
  for (const EntryParameter& parameter : f.parameters) {
    roles += "asiotfv"[static_cast<std::size_t>(parameter.role)];
  }
  EXPECT_EQ(roles, GetParam().roles);
  // What is kept in a task reads the same again.
  const auto again = parse_signature(f.text + " {}", "f", "task.toml");
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(again->text, f.text);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, SignatureTable,
    testing::Values(
        Written{"void f(const float* x, float* y, int n, float a, cudaStream_t stream) {}",
                "void f(const float* x, float* y, int n, float a, cudaStream_t stream)", "ioast"},
        Written{"cudaError_t f(cudaStream_t s, float *y, size_t n) { return cudaSuccess; }",
                "cudaError_t f(cudaStream_t s, float* y, size_t n)", "toa"},
        Written{"extern \"C\" int f(int n, __half* y) { return 0; }",
                "extern \"C\" int f(int n, __half* y)", "ao"},
        Written{"extern \"C\" {\nvoid g();\nvoid f(int n, half* y) {}\n}",
                "extern \"C\" void f(int n, half* y)", "ao"},
        Written{"extern \"C\" void f(int n, float* y);\nvoid f(int n, float* y) {}",
                "extern \"C\" void f(int n, float* y)", "ao"},
        Written{"MYLIB_API void f(int n, float* RESTRICT y) {}", "void f(int n, float* RESTRICT y)",
                "ao"},
        Written{"MYLIB_EXPORT(2) __host__ __forceinline__ void f(int n, float* y) noexcept {}",
                "void f(int n, float* y)", "ao"},
        Written{"[[nodiscard]] static inline int f(int n, [[maybe_unused]] float* y) { return 0; }",
                "int f(int n, float* y)", "ao"},
        Written{"__attribute__((noinline)) void f(int n, const __nv_bfloat16* __restrict__ x,\n"
                "  float* __restrict__ y) {}",
                "void f(int n, const __nv_bfloat16* __restrict__ x, float* __restrict__ y)", "aio"},
        Written{"void f(\n    int n,  // how many\n    float a = 1.0f, /* scale */\n    float* y "
                "= nullptr,\n    cudaStream_t stream = cudaStream_t{0}\n) {}",
                "void f(int n, float a, float* y, cudaStream_t stream)", "asot"},
        Written{"void f(std::uint32_t n, int64_t m, unsigned long long k, double* y, bool causal,\n"
                "void* tmp) {}",
                "void f(std::uint32_t n, int64_t m, unsigned long long k, double* y, bool causal, "
                "void* tmp)",
                "aaaofv"},
        Written{"void f(int n, float const* const x, const int idx[], signed char y[4]) {}",
                "void f(int n, float const* const x, const int idx[], signed char y[4])", "aiio"},
        Written{"#define F f\n#if 1\nvoid f(int n, float* y) {}\n#endif\n",
                "void f(int n, float* y)", "ao"},
        Written{"namespace a::b { inline namespace v1 { void f(int n, float* y) {} } }",
                "void f(int n, float* y)", "ao"}));

TEST(Signature, FindsFunctionsInNamespaces) {
  const auto f = parsed("namespace a { namespace b::c { void f(int n, float* y) {} } }");
  EXPECT_EQ(f.function, "a::b::c::f");
  EXPECT_EQ(parsed("extern \"C\" { void f(int n, float* y) {} }").function, "f");
  EXPECT_EQ(parsed("namespace { void f(int n, float* y) {} }").function, "f");
  const auto named =
      parse_signature("namespace a { void f(int n) {} } void f(int n) {}", "a::f", "f.cpp");
  ASSERT_TRUE(named.ok()) << named.error().text();
  EXPECT_EQ(named->function, "a::f");
}

TEST(Signature, SaysWhichParameterIsNotSupported) {
  EXPECT_THAT(error_of("\nvoid f(int n, std::vector<float>& v) {}"),
              HasSubstr("f.cpp:2: parameter 2 of f: `std::vector<float>&v` is not a parameter that "
                        "a task can pass; supported are (const) T*"));
  EXPECT_THAT(error_of("void f(int n, float& x) {}"), HasSubstr("parameter 2 of f"));
  EXPECT_THAT(error_of("void f(int n, float** x) {}"), HasSubstr("parameter 2 of f"));
  EXPECT_THAT(error_of("void f(int n, float x[][4]) {}"), HasSubstr("parameter 2 of f"));
  EXPECT_THAT(error_of("void f(int n, Matrix* m) {}"),
              HasSubstr("`Matrix*m` points to a type that tensors do not have"));
  EXPECT_THAT(
      error_of("void f(Matrix m) {}"),
      HasSubstr("parameter 1 of f: `Matrix m` is not a type that a task can pass by value"));
  EXPECT_THAT(error_of("void f(int n, const char* s) {}"),
              HasSubstr("say signed char or unsigned char"));
  EXPECT_THAT(error_of("void f(unsigned int) {}"), HasSubstr("parameter 1 of f"));
  EXPECT_THAT(error_of("void f(short n, float* y) {}"), HasSubstr("parameter 1 of f"));
}

TEST(Signature, RefusesFunctionsThatCannotBeCalled) {
  EXPECT_THAT(error_of("template <typename T>\nvoid f(int n, T* y) {}"),
              HasSubstr("f.cpp:2: f is a template; write a plain function that calls it"));
  EXPECT_THAT(error_of("float f(int n, const float* x) { return 0; }"),
              HasSubstr("f.cpp:1: f returns `float`; expected void, int with 0 for success"));
  EXPECT_THAT(error_of("__global__ void f(int n, float* x) {}"),
              HasSubstr("f runs on the GPU; name the function of the host that launches it"));
  EXPECT_THAT(error_of("void f(int n, float* y);"),
              HasSubstr("f.cpp: the function f is declared here but not defined"));
  EXPECT_THAT(error_of("struct S { void f(int n) {} };"),
              HasSubstr("the function f is not defined here outside a class"));
  EXPECT_THAT(error_of("void f(int n) {}\nvoid f(long n) {}"),
              HasSubstr("the function f is defined 2 times (lines 1 and 2)"));
}

TEST(Signature, IsFoundInsideAnyNumberOfScopes) {
  for (const std::string scope : {"namespace a {", "extern \"C\" {"}) {
    std::string source;
    for (int i = 0; i < 50'000; ++i) {
      source += scope;
    }
    EXPECT_EQ(parsed(source + "void f(int n, float* y) {}").parameters.size(), 2U);
    EXPECT_THAT(error_of(source + std::string(50'000, '}')), HasSubstr("not defined"));
  }
}

TEST(Signature, KnowsTheScopeItStandsIn) {
  const std::string source =
      "namespace a { namespace b::c { int g(int k = int{3}); } void h() {} extern \"C\" { void "
      "f(int "
      "n, float* y) {} } }\nnamespace d { void h() {} }\nvoid last() {}\n";
  const Signature f = parsed(source);
  EXPECT_EQ(f.function, "a::f");
  EXPECT_TRUE(f.c_linkage);
  const auto missing = parse_signature(source, "none", "f.cpp");
  EXPECT_THAT(missing.error().text(), HasSubstr("a::h, a::f, d::h, last"));
}

TEST(Signature, EndsOnSourceThatIsBroken) {
  EXPECT_THAT(error_of("void f(int n, float* y) {{{ \"unclosed"), "parsed");
  EXPECT_THAT(error_of("void f(int n, float* y"), HasSubstr("not defined"));
  EXPECT_THAT(error_of("/* unclosed void f(int n) {}"), HasSubstr("not defined"));
  EXPECT_THAT(error_of("R\"(void f(int n) {}"), HasSubstr("not defined"));
  EXPECT_THAT(error_of("void f(int n, float y[) {}"), HasSubstr("parameter 2 of f"));
}

}  // namespace
}  // namespace kernelpro
