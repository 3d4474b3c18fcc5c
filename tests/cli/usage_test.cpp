// What the command line says before anything is judged.
#include "cli/fixture.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

using Usage = Cli;

TEST_F(Usage, HelpOfEveryCommandHasAnExample) {
  for (const Words& command : {Words{},
                               Words{"evaluate"},
                               Words{"verify"},
                               Words{"task"},
                               Words{"task", "new"},
                               Words{"task", "check"},
                               Words{"task", "list"},
                               Words{"ceilings"},
                               Words{"doctor"},
                               Words{"optimize"},
                               Words{"resume"},
                               Words{"confirm"},
                               Words{"runs"},
                               Words{"show"},
                               Words{"why"},
                               Words{"report"},
                               Words{"export"},
                               Words{"bench"},
                               Words{"tune"},
                               Words{"simulate"},
                               Words{"landscape"},
                               Words{"landscape", "import"},
                               Words{"bench", "kernelbench"},
                               Words{"diagnose"}}) {
    Words arguments = command;
    arguments.emplace_back("--help");
    const Finished help = kernelpro(arguments);
    expect_exit(help, 0);
    EXPECT_THAT(help.output, HasSubstr("Example:\n  kernelpro "));
    EXPECT_THAT(help.errors, IsEmpty());
  }
}

TEST_F(Usage, VersionIsOneLine) {
  const Finished version = kernelpro({"--version"});
  expect_exit(version, 0);
  EXPECT_EQ(version.output, "kernelpro " KERNELPRO_VERSION "\n");
}

TEST_F(Usage, NoCommandShowsTheHelpAsAnError) {
  const Finished nothing = kernelpro({});
  expect_exit(nothing, 1);
  EXPECT_THAT(nothing.errors, AllOf(HasSubstr("evaluate"), HasSubstr("doctor")));
  const Finished half = kernelpro({"task"});
  expect_exit(half, 1);
  EXPECT_THAT(half.errors, AllOf(HasSubstr("list"), HasSubstr("check"), HasSubstr("new")));
}

TEST_F(Usage, WrongArgumentsAreNamedWithTheHelpToRead) {
  const struct {
    Words arguments;
    std::string what;
    std::string help;
  } cases[] = {
      {{"evalute"}, "evalute", "`kernelpro --help`"},
      {{"task", "make"}, "make", "`kernelpro task --help`"},
      {{"evaluate"}, "task is required", "`kernelpro evaluate --help`"},
      {{"evaluate", "axpy"}, "sources is required", "`kernelpro evaluate --help`"},
      {{"evaluate", "axpy", "a.cpp", "--fast"}, "--fast", "`kernelpro evaluate --help`"},
      {{"evaluate", "axpy", "a.cpp", "--threads", "0"}, "--threads", "`kernelpro evaluate --help`"},
      {{"optimize", "axpy", "-n", "abc"},
       "--evaluations: expected a number from 1 to 10000000, not \"abc\"",
       "`kernelpro optimize --help`"},
      {{"optimize", "axpy", "-n", "0"}, "0 is not from 1 to 10000000", "`kernelpro optimize"},
      {{"evaluate", "axpy", "a.cpp", "--timeout", "-1"}, "--timeout", "`kernelpro evaluate"},
      {{"evaluate", "axpy", "a.cpp", "--timing", "much"}, "--timing", "`kernelpro evaluate"},
      {{"verify", "c.json", "--sandbox", "docker"},
       "known are \"landlock\", \"none\"",
       "`kernelpro verify --help`"},
      {{"evaluate", "axpy", "a.cpp", "--allow-precision", "f8"},
       "known are \"tf32\", \"f16\", \"bf16\"",
       "kernelpro"},
      {{"task", "new", "x", "--from", "a.cpp"}, "--from requires --entry", "`kernelpro task new"},
      {{"task", "new", "x", "--from", "a.cpp", "--entry", "f", "--shape", "A"},
       "expected NAME=VALUE, found \"A\"",
       "`kernelpro task new --help`"},
  };
  for (const auto& wrong : cases) {
    const Finished finished = kernelpro(wrong.arguments);
    expect_exit(finished, 1);
    EXPECT_THAT(finished.errors,
                AllOf(StartsWith("kernelpro: "), HasSubstr(wrong.what), HasSubstr(wrong.help)));
    EXPECT_THAT(finished.output, IsEmpty());
  }
}

TEST_F(Usage, ARunThatCannotBeginIsNotKept) {
  const Finished finished =
      kernelpro({"optimize", "axpy", "--backend", "cuda", "--device", "200", "-n", "1"});
  expect_exit(finished, 5);
  EXPECT_THAT(finished.errors, HasSubstr("kernelpro: "));
  EXPECT_THAT(kernelpro({"runs"}).output, Not(HasSubstr("axpy-1")));
}

TEST_F(Usage, AnUnknownTaskListsTheKnownOnes) {
  const Finished finished = kernelpro({"evaluate", "axpi", "a.cpp"});
  expect_exit(finished, 2);
  EXPECT_THAT(finished.errors, AllOf(HasSubstr("\"axpi\""), HasSubstr("did you mean axpy?"),
                                     HasSubstr("jacobi2d, kmeans_assign")));
}

TEST_F(Usage, AMissingSourceNamesTheFileAndWhatElseCouldStandThere) {
  const Finished finished = kernelpro({"evaluate", data("wave"), "mine.cpp"});
  expect_exit(finished, 2);
  EXPECT_THAT(finished.errors,
              AllOf(HasSubstr("No such file or directory (while reading mine.cpp)"),
                    HasSubstr("one of the task's own: plain")));
  const Finished incumbent =
      kernelpro({"evaluate", data("wave"), data("fast.cpp"), "--incumbent", "old.cpp"});
  expect_exit(incumbent, 2);
  EXPECT_THAT(incumbent.errors, AllOf(HasSubstr("--incumbent"), HasSubstr("old.cpp")));
}

TEST_F(Usage, AnErrorIsAlsoOneDocumentOfJson) {
  const Json error = json({"evaluate", "axpi", "a.cpp"}, "cli_evaluate.json", 2);
  EXPECT_EQ(error["error"]["kind"], "bad_input");
  EXPECT_THAT(error["error"]["message"], HasSubstr("axpi"));
  EXPECT_EQ(json({"verify", "c.json"}, "cli_verify.json", 2)["error"]["kind"], "bad_input");
  EXPECT_EQ(json({"task", "check", "x"}, "cli_task_check.json", 2)["error"]["kind"], "bad_input");
  EXPECT_EQ(json({"task", "new", "x", "--from", "a.cpp", "--entry", "f"}, "cli_task_new.json",
                 2)["error"]["kind"],
            "bad_input");
}

TEST_F(Usage, ErrorsOfATaskFileNameFileLineKeyAndWhatWasExpected) {
  const struct {
    std::string old;
    std::string fresh;
    Words said;
  } cases[] = {
      {"family = \"test\"", "famly = \"test\"", {"task.toml:5", "famly", "family"}},
      {"dtype = \"f32\"", "dtype = 32", {"task.toml:14", "dtype", "integer"}},
      {"shape = [\"n\"]", "shape = [\"m\"]", {"task.toml:", "m"}},
      {"file = \"baseline.cpp\"", "file = \"lost.cpp\"", {"task.toml:", "file", "lost.cpp"}},
      {"flops = \"24*n\"", "flops = \"24/(n-n)\"", {"task.toml:", "flops", "divi", "zero"}},
      {"bytes = \"8*n\"", "bytes = \"10^400*n\"", {"task.toml:", "bytes"}},
      {"timed = [{ n = 300 }]", "timed = [{ k = 300 }]", {"task.toml:", "timed", "k"}},
      {"schema = 1", "schema = 1 1", {"task.toml:3"}},
  };
  int number = 0;
  for (const auto& wrong : cases) {
    const std::string name = "bad" + std::to_string(++number);
    copy_task(name,
              [&](const std::string& toml) { return replaced(toml, wrong.old, wrong.fresh); });
    const Finished finished = kernelpro({"evaluate", name, data("fast.cpp")});
    expect_exit(finished, 2);
    for (const std::string& part : wrong.said) {
      EXPECT_THAT(finished.errors, HasSubstr(part)) << wrong.fresh;
    }
  }
  // What the list says of them.
  const Json listed = json({"task", "list"}, "cli_task_list.json", 0);
  int broken = 0;
  for (const Json& task : listed["tasks"]) {
    broken += task["error"] != "" ? 1 : 0;
  }
  EXPECT_EQ(broken, number);
  const Finished list = kernelpro({"task", "list"});
  expect_exit(list, 0);
  EXPECT_THAT(list.output, AllOf(HasSubstr("axpy"), HasSubstr("! tasks/bad1/task.toml:5"),
                                 HasSubstr("found in tasks\n")));
}

}  // namespace
}  // namespace kernelpro
