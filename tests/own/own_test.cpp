// What is learned of a function, what is refused, and what a patch keeps.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "common/base/file.hpp"
#include "coordinator/app/own_layout.hpp"
#include "coordinator/app/own_patch.hpp"
#include "coordinator/app/own_task.hpp"
#include "coordinator/task/load.hpp"
#include "own/project.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using namespace own_tests;

using ::testing::HasSubstr;

TEST(OwnFunction, IsReadFromItsIndexing) {
  const OwnProject project;
  project.copy_functions();
  NewTask wishes;
  wishes.sizes = {{"h", 64}, {"w", 64}};
  const auto made = project.make("max_pool.cpp:max_pool", wishes);
  ASSERT_TRUE(made.ok()) << made.error().text();
  const auto task = load_task(made->folder);
  ASSERT_TRUE(task.ok()) << task.error().text();
  ASSERT_EQ(task->outputs.size(), 1U);
  EXPECT_EQ(task->outputs[0].shape[0].text(), "(h - 3)/2 + 1");
  EXPECT_EQ(task->held_out.at("h").low, 3);
  EXPECT_EQ(task->timed_shapes[0].at("w"), 64);
}

TEST(OwnFunction, MakesAnotherTaskWhenTheFileChanges) {
  const OwnProject project;
  const std::string text =
      "void f(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) "
      "y[i] = 2 * x[i]; }\n";
  project.write("f.cpp", text);
  NewTask wishes;
  wishes.sizes = {{"n", 1000}};
  const auto first = project.make("f.cpp:f", wishes);
  const auto again = project.make("f.cpp:f", wishes);
  ASSERT_TRUE(first.ok() && again.ok());
  EXPECT_TRUE(first->fresh);
  EXPECT_FALSE(again->fresh);
  EXPECT_EQ(first->folder, again->folder);
  project.write("f.cpp", "// Changed.\n" + text);
  const auto other = project.make("f.cpp:f", wishes);
  ASSERT_TRUE(other.ok()) << other.error().text();
  EXPECT_NE(first->folder, other->folder);

  const auto origin = read_origin(first->folder);
  ASSERT_TRUE(origin.ok());
  const auto patch = make_patch(*origin, "void f();\n", "");
  ASSERT_FALSE(patch.ok());
  EXPECT_THAT(patch.error().text(), HasSubstr("it has changed since the run began"));
  EXPECT_EQ(*read_file(project.root() / "f.cpp"), "// Changed.\n" + text);
}

TEST(OwnFunction, SaysWhyItCannotBeJudged) {
  const OwnProject project;
  EXPECT_THAT(
      project.refusal("#include \"nowhere.h\"\nvoid f(float* x, int n) { x[n - 1] = 0; }\n", "f"),
      HasSubstr("it does not compile"));
  EXPECT_THAT(project.refusal("float gain = 2;\nvoid f(float* x, int n) { for (int i = 0; i < n; "
                              "++i) x[i] *= gain; }\n",
                              "f"),
              HasSubstr("f uses the variable gain"));
  EXPECT_THAT(project.refusal("#include <cstdio>\nvoid f(float* x, int n) { FILE* a = "
                              "fopen(\"x\", \"r\"); fread(x, 4, n, a); }\n",
                              "f"),
              HasSubstr("and a judge must be able to call it alone"));
  EXPECT_THAT(project.refusal("void f(int* x, int n) { for (int i = 0; i < n; ++i) x[i] = 1 << (40 "
                              "+ i); }\n",
                              "f"),
              HasSubstr("it has undefined behavior"));
  EXPECT_THAT(project.refusal("void f(volatile int* x, int n);\nvoid g(int* x, int n) { while (n > "
                              "0) { x[0] = n; } }\n",
                              "g"),
              HasSubstr("it did not return within 2 s"));
  EXPECT_THAT(project.refusal("template <typename T> void f(T* x, int n) { x[n] = 0; }\n", "f"),
              HasSubstr("f is a template; name the instance that you use"));
  EXPECT_THAT(
      project.refusal("struct S { int k; void f(float* x, int n) { x[0] = n * k; } };\n", "S::f"),
      HasSubstr("belongs to objects with a state of their own"));
  EXPECT_THAT(project.refusal("void f(float** x, int n) { x[0][0] = n; }\n", "f"),
              HasSubstr("which no task can pass"));
  EXPECT_THAT(project.refusal(
                  "static int calls = 0;\nstatic float next(float v) { return v + ++calls; }\n"
                  "void f(float* x, int n) { for (int i = 0; i < n; ++i) x[i] = next(x[i]); }\n",
                  "f"),
              HasSubstr("f calls next, which uses the variable calls"));
  EXPECT_THAT(
      project.refusal("void f(float* x, int n) { static int calls = 0; ++calls; for (int i = "
                      "0; i < n; ++i) x[i] *= calls; }\n",
                      "f"),
      HasSubstr("f uses the variable calls"));
  EXPECT_THAT(project.refusal(
                  "#include <iostream>\nvoid overflow(const int* x, int* y, int n) { for (int i "
                  "= 0; i < n; ++i) y[i] = 1 << (40 + x[i]); }\n",
                  "overflow"),
              HasSubstr("it has undefined behavior"));
  EXPECT_THAT(project.refusal("int g(int n) { return n; }\n", "f"),
              HasSubstr("the function f is not defined here"));
}

TEST(OwnFunction, OfAnObjectSaysWhichFieldsAreItsState) {
  const OwnProject project;
  EXPECT_THAT(project.refusal(
                  "class F {\n public:\n  explicit F(float g) : gain(g) {}\n"
                  "  void f(float* x, int n) const { for (int i = 0; i < n; ++i) x[i] *= gain; }\n"
                  " private:\n  const float gain;\n};\n",
                  "F::f"),
              HasSubstr("objects with a state of their own (gain)"));
  EXPECT_THAT(
      project.refusal(
          "struct F {\n  float last = 0;\n"
          "  void f(float* x, int n) { for (int i = 0; i < n; ++i) x[i] = last += x[i]; }\n};\n",
          "F::f"),
      HasSubstr("objects with a state of their own (last)"));
}

TEST(OwnFunction, MayHaveNumbersFixedByOthersThatAreFixed) {
  const OwnProject project;
  project.write("f.cpp",
                "void f(const float* a, float* b, int m, int n, int lda, int ldb) {\n"
                "  for (int i = 0; i < m; ++i)\n"
                "    for (int j = 0; j < n; ++j) b[i * ldb + j] = 2 * a[i * lda + j];\n}\n");
  NewTask wishes;
  wishes.sizes = {{"m", 32}, {"n", 32}};
  wishes.fixed = {{"lda", "ldb + 1"}, {"ldb", "n"}};
  const auto made = project.make("f.cpp:f", wishes);
  ASSERT_TRUE(made.ok()) << made.error().text();
  wishes.fixed = {{"lda", "ldb"}, {"ldb", "lda"}};
  const auto circle = project.make("f.cpp:f", wishes);
  ASSERT_FALSE(circle.ok());
  EXPECT_THAT(circle.error().text(), HasSubstr("--fix lda=ldb: it depends on itself"));
}

TEST(OwnFunction, TakesHeadersMacrosAndTheBuildOfTheUser) {
  const OwnProject project;
  fs::create_directories(project.root() / "include");
  project.write("include/scale.h",
                "#pragma once\ninline float scaled(float v) { return v * SCALE; }\n");
  project.write(
      "f.cpp",
      "#include <scale.h>\nvoid f(const float* x, float* y, int n) {\n  for (int i = 0; i "
      "< n; ++i) y[i] = scaled(x[i]);\n}\n");
  project.write("compile_commands.json",
                "[{\"directory\": \"" + project.root().string() +
                    "\", \"command\": \"c++ -Iinclude -DSCALE=3 -O3 -march=native -c f.cpp\", "
                    "\"file\": \"f.cpp\"}]");
  NewTask wishes;
  wishes.sizes = {{"n", 1000}};
  const auto made = project.make("f.cpp:f", wishes);
  ASSERT_TRUE(made.ok()) << made.error().text();
  const auto task = load_task(made->folder);
  ASSERT_TRUE(task.ok()) << task.error().text();
  EXPECT_THAT(task->baselines[0].options, ::testing::ElementsAre("-O3", "target", "-DSCALE=3"));
  EXPECT_THAT(task->files.at("baseline.cpp"), HasSubstr("inline float scaled"));
}

TEST(Patch, KeepsTheLayoutOfWhatDidNotChange) {
  const std::string original =
      "// Adds.\nint  add(int a,int b) { return a+b; }  // sum\n\n/* Twice. */\nint twice(int a) "
      "{\n"
      "  return 2 * a;\n}\n";
  const std::string rewritten =
      "int add(int a, int b) {\n  return a + b;\n}\nint twice(int a) {\n  return a + a;\n}\n";
  EXPECT_EQ(
      in_layout_of(original, rewritten),
      "// Adds.\nint  add(int a,int b) { return a+b; }  // sum\n\n/* Twice. */\nint twice(int "
      "a) {\n  return a + a;\n}\n");
}

}  // namespace
}  // namespace kernelpro
