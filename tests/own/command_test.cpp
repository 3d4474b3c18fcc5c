// Functions as repositories hold them, through `kernelpro optimize FILE:FUNCTION` to a patch.
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "common/base/paths.hpp"
#include "common/wire/json.hpp"
#include "coordinator/app/own_patch.hpp"
#include "coordinator/task/load.hpp"
#include "own/functions.hpp"
#include "own/project.hpp"

namespace kernelpro {
namespace {

using namespace own_tests;
using nlohmann::json;

using ::testing::AnyOf;

// Of the functions, those that callers may give one array for two parameters: without restrict,
// types and extents being equal, and with the results of two arrays.
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

class OwnFunctions : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto program = sibling_program("kernelpro");
    ASSERT_TRUE(program.ok()) << program.error().text();
    program_ = program->string();
    project_.copy_functions();
  }

  // Nobody can be asked: a question would end it with exit code 2.
  [[nodiscard]] Finished kernelpro(const std::vector<std::string>& arguments) const {
    std::vector<std::string> words = {"/bin/sh", "-c", "exec \"$0\" \"$@\" < /dev/null", program_};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run_in(words, project_.root());
  }

  // Of the run's one candidate, where the run itself did not find it faster.
  [[nodiscard]] std::string exported_patch(const std::string& run) const {
    const Finished exported =
        kernelpro({"export", run, "1", "exported", "--as", "patch", "--accept-suspect"});
    EXPECT_EQ(exported.exit_code, 0) << exported.errors;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(project_.root() / "exported", none)) {
      if (entry.path().extension() == ".patch") {
        return entry.path().string();
      }
    }
    return "";
  }

  // That such callers are played.
  void expect_served(const fs::path& task_folder, const std::string& file) const {
    const auto task = load_task(task_folder);
    ASSERT_TRUE(task.ok()) << task.error().text();
    const auto callers =
        Callers::prepare(source_of(project_.root() / file), read_origin(task_folder)->function,
                         *task, own_build(*task), {});
    ASSERT_TRUE(callers.ok()) << callers.error().text();
    std::vector<std::string> kinds = callers->served();
    std::erase_if(kinds, [](const std::string& when) { return !when.ends_with("the same array"); });
    EXPECT_EQ(kinds, same_arrays_of(file));
  }

  // The file is the user's own again but for the patch, and compiles as he would.
  void expect_applies(const std::string& patch, const std::string& file) const {
    const auto before = read_file(project_.root() / file);
    const Finished applied = run_in({"patch", "-p1", "-i", patch}, project_.root());
    EXPECT_TRUE(applied.succeeded()) << applied.output;
    EXPECT_NE(*read_file(project_.root() / file), *before);
    const bool c = file.ends_with(".c");
    const Finished built =
        run_in({c ? "gcc" : "g++", c ? "-std=c99" : "-std=c++20", "-O2", "-fsyntax-only", file},
               project_.root());
    EXPECT_TRUE(built.succeeded()) << built.errors;
  }

  OwnProject project_;
  std::string program_;
};

// One rewritten candidate is judged, built into a patch, and called as callers may; whether it is
// faster is no matter, and so it is timed as briefly as can be and has time on a busy machine. The
// command knows the file and the function, and nothing else of them.
TEST_P(OwnFunctions, GoThroughTheOneCommandToAPatchThatPassed) {
  const Finished done = kernelpro({"optimize", GetParam(), "-n", "1", "--tier", "pragmas", "--tier",
                                   "nest", "--serial", "--timing", "0.001", "--warm", "--timeout",
                                   "60s", "--json", "--quiet"});
  ASSERT_THAT(done.exit_code, AnyOf(0, 3)) << done.errors;
  const auto result = parse_json(done.output);
  ASSERT_TRUE(result.ok()) << done.output;
  EXPECT_EQ((*result)["refused"], json::array());
  const std::string run = (*result)["run"];
  const auto shown = parse_json(kernelpro({"show", run, "1", "--json"}).output);
  ASSERT_TRUE(shown.ok()) << shown.error().text();
  EXPECT_EQ((*shown)["node"]["outcome"], "passed") << (*shown)["node"];
  const std::string written = (*result)["patch"];
  const std::string patch = written.empty() ? exported_patch(run) : written;
  ASSERT_NE(patch, "");
  const std::string file = GetParam().substr(0, GetParam().find(':'));
  if (!same_arrays_of(file).empty()) {
    expect_served((*result)["task"].get<std::string>(), file);
  }
  expect_applies(patch, file);
}

INSTANTIATE_TEST_SUITE_P(, OwnFunctions, ::testing::ValuesIn(functions()), [](const auto& named) {
  return named.param.substr(0, named.param.find('.'));
});

}  // namespace
}  // namespace kernelpro
