// Functions as repositories hold them, from FILE:FUNCTION to a patch of that file.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/base/file.hpp"
#include "common/model/adapter.hpp"
#include "coordinator/app/evaluate.hpp"
#include "coordinator/app/own_patch.hpp"
#include "coordinator/app/own_source.hpp"
#include "coordinator/app/own_task.hpp"
#include "coordinator/task/load.hpp"
#include "own/functions.hpp"
#include "own/project.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using namespace own_tests;

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

// The callers with one array for two parameters.
std::vector<std::string> same_arrays(const Callers& callers) {
  std::vector<std::string> kinds = callers.served();
  std::erase_if(kinds, [](const std::string& when) { return !when.ends_with("the same array"); });
  return kinds;
}

// Of the functions, those that serve such: without restrict, types and extents being equal, and
// with the results of two arrays.
std::vector<std::string> same_arrays_of(const std::string& file) {
  static const std::map<std::string, std::vector<std::string>> names = {
      {"span_softmax.cpp", {"in and out"}},
      {"method_lerp.cpp", {"a and out", "b and out"}},
      {"omp_saxpy.cpp", {"b and a", "c and a"}}};
  const auto found = names.find(file);
  std::vector<std::string> kinds;
  for (const std::string& pair :
       found == names.end() ? std::vector<std::string>() : found->second) {
    kinds.push_back(pair + " are the same array");
  }
  return kinds;
}

class OwnFunctions : public ::testing::TestWithParam<std::string> {};

// The change is one that any function can take, so that no speed decides here. No flag is given and
// nobody can be asked: a question would be an error.
TEST_P(OwnFunctions, BecomeTasksAndComeBackAsPatches) {
  const OwnProject project;
  project.copy_functions();
  const auto made = project.make(GetParam());
  ASSERT_TRUE(made.ok()) << made.error().text();
  const auto task = load_task(made->folder);
  ASSERT_TRUE(task.ok()) << task.error().text();
  const auto parts = take_adapter_off(task->files.at("baseline.cpp"));
  ASSERT_TRUE(parts.has_value());

  const std::string changed = with_flags(parts->own, task->entry->function, {"O3"});
  ASSERT_NE(changed, parts->own);
  project.write("candidate.cpp", changed);
  EvaluationRequest request;
  request.task = made->folder.string();
  request.sources = {(project.root() / "candidate.cpp").string()};
  request.build.options = task->baselines[0].options;
  request.timed = false;
  const auto judged = evaluate(request, {}, {});
  ASSERT_TRUE(judged.ok()) << judged.error().text();
  ASSERT_EQ(judged->evaluations.size(), 1U);
  const Verdict& verdict = judged->evaluations[0].certificate.verdict;
  EXPECT_EQ(verdict.outcome, Outcome::passed) << verdict.summary;

  const auto origin = read_origin(made->folder);
  ASSERT_TRUE(origin.ok()) << origin.error().text();
  const auto patch = make_patch(*origin, changed, "");
  ASSERT_TRUE(patch.ok()) << patch.error().text();
  project.write("own.patch", *patch);
  const std::string file = GetParam().substr(0, GetParam().find(':'));
  const auto before = read_file(project.root() / file);
  const Finished applied = run_in({"patch", "-p1", "-i", "own.patch"}, project.root());
  EXPECT_TRUE(applied.succeeded()) << applied.output << *patch;
  EXPECT_NE(*read_file(project.root() / file), *before);
  const std::string compiler = file.ends_with(".c") ? "gcc" : "g++";
  const std::string standard = file.ends_with(".c") ? "-std=c99" : "-std=c++20";
  const Finished built = run_in({compiler, standard, "-O2", "-fsyntax-only", file}, project.root());
  EXPECT_TRUE(built.succeeded()) << built.errors;

  // What the patched file computes, for callers that the judge is not.
  const auto callers =
      Callers::prepare(source_of(KERNELPRO_SOURCE_DIR "/tests/own/functions/" + file),
                       origin->function, *task, own_build(*task), {});
  ASSERT_TRUE(callers.ok()) << callers.error().text();
  EXPECT_THAT(callers->served(), IsSupersetOf({"", "its arrays are not aligned"}));
  EXPECT_EQ(same_arrays(*callers), same_arrays_of(file));
  const auto objection = callers->objection(source_of(project.root() / file), {});
  ASSERT_TRUE(objection.ok()) << objection.error().text();
  EXPECT_EQ(*objection, "");
}

INSTANTIATE_TEST_SUITE_P(, OwnFunctions, ::testing::ValuesIn(functions()), [](const auto& named) {
  return named.param.substr(0, named.param.find('.'));
});

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
