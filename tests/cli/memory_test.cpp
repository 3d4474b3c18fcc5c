// What all runs together have learned, from the command line.
#include "cli/examples.hpp"
#include "cli/fixture.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::HasSubstr;
using ::testing::Not;

class MemoryCommands : public Cli {
 protected:
  // A recorded run, whose lessons go to a file that is named.
  [[nodiscard]] Finished learned_run(const std::string& memory) const {
    Words words = example_command("option_prices_cpu");
    words.insert(words.end(), {"--memory", memory});
    return kernelpro(words);
  }
};

TEST_F(MemoryCommands, ARunTeachesAndWhatItTaughtIsShownCarriedAndForgotten) {
  expect_exit(learned_run("lessons.sqlite"), 0);
  const Json shown =
      json({"memory", "show", "--memory", "lessons.sqlite"}, "cli_memory_show.json", 0);
  EXPECT_GT(shown["holds"]["lessons"], 0);
  EXPECT_EQ(shown["holds"]["runs"], 1);
  EXPECT_THAT(shown.dump(), Not(HasSubstr("option_prices")));
  EXPECT_THAT(kernelpro({"memory", "show", "--memory", "lessons.sqlite"}).output,
              HasSubstr("from 1 runs"));
  const Json told = json({"memory", "show", "--run", "option_prices-1"}, "cli_memory_show.json", 0);
  EXPECT_EQ(told["lessons"].size(), 0U);

  expect_exit(
      kernelpro({"memory", "export", "--memory", "lessons.sqlite", "--into", "lessons.jsonl"}), 0);
  const Json taken = json({"memory", "import", "lessons.jsonl"}, "cli_memory_import.json", 0);
  EXPECT_EQ(taken["files"][0]["lessons"], shown["holds"]["lessons"]);
  EXPECT_TRUE(json({"memory", "import", "lessons.jsonl"}, "cli_memory_import.json",
                   0)["files"][0]["known"]);
  EXPECT_EQ(json({"memory", "show"}, "cli_memory_show.json", 0)["lessons"], shown["lessons"]);
  EXPECT_EQ(kernelpro({"memory", "export"}).output, content_of(work() / "lessons.jsonl"));

  const Json gone = json({"memory", "forget", "--all"}, "cli_memory_forget.json", 0);
  EXPECT_EQ(gone["lessons"], shown["holds"]["lessons"]);
  EXPECT_EQ(json({"memory", "show"}, "cli_memory_show.json", 0)["lessons"].size(), 0U);
}

TEST_F(MemoryCommands, ADamagedMemoryIsSaidAndTheRunGoesOn) {
  write(work() / "notes.txt", "these are notes\n");
  const Finished finished = learned_run("notes.txt");
  expect_exit(finished, 0);
  EXPECT_THAT(finished.errors, HasSubstr("not a memory of lessons"));
  EXPECT_THAT(finished.errors, HasSubstr("the run goes on without lessons of other runs"));
  EXPECT_EQ(content_of(work() / "notes.txt"), "these are notes\n");
}

TEST_F(MemoryCommands, WrongWordsAndFilesAreNamed) {
  write(work() / "cut.jsonl", "{\"format\": \"kernelpro lessons\", \"v\": 1}\n{\"lesson\": {\n");
  write(work() / "new.jsonl", "{\"format\": \"kernelpro lessons\", \"v\": 2}\n");
  const struct {
    Words arguments;
    int code;
    std::string what;
  } cases[] = {
      {{"memory", "show"}, 2, "nothing is remembered yet"},
      {{"memory", "import", "cut.jsonl"}, 2, "cut.jsonl:2"},
      {{"memory", "import", "new.jsonl"}, 2, "version 2 of lessons"},
      {{"memory", "import", "nowhere.jsonl"}, 2, "nowhere.jsonl"},
      {{"memory", "forget", "--all"}, 2, "nothing is remembered yet"},
      {{"memory", "show", "--limit", "0"}, 1, "--limit"},
      {{"optimize", "axpy", "--memory", "run:axpy-9"}, 2, "there is no run 'axpy-9'"},
  };
  for (const auto& one : cases) {
    const Finished finished = kernelpro(one.arguments);
    expect_exit(finished, one.code);
    EXPECT_THAT(finished.errors, HasSubstr(one.what));
  }
  EXPECT_FALSE(fs::exists(work() / ".kernelpro/memory.sqlite"));
}

}  // namespace
}  // namespace kernelpro
