// Runs removed, runs only planned, mistakes that leave nothing behind, and who is in the way.
#include "cli/running.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Habits : public Cli {
 protected:
  [[nodiscard]] fs::path store() const { return work() / ".kernelpro"; }

  [[nodiscard]] static Words optimizing(const std::string& task,
                                        const std::string& tier = "build") {
    return {"optimize", task,     "--timing", "0.02",    "-n",
            "1",        "--tier", tier,       "--quiet", "--accept-suspect"};
  }

  // Of a task with the baseline of the test task.
  void make_run(const std::string& task) const {
    Words words = optimizing(task);
    const Words workers = recorded_workers();
    words.insert(words.end(), workers.begin(), workers.end());
    const Finished made = kernelpro(words);
    ASSERT_THAT(made.exit_code, AnyOf(0, 3)) << made.errors;
  }

  [[nodiscard]] Words runs() const {
    Words names;
    const Json listed = json({"runs"}, "cli_runs.json", 0);
    for (const Json& run : listed["runs"]) {
      names.push_back(run["id"]);
    }
    return names;
  }

  [[nodiscard]] std::size_t sources() const {
    std::size_t count = 0;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(store() / "sources")) {
      count += entry.is_regular_file() ? 1 : 0;
    }
    return count;
  }
};

TEST_F(Habits, RemovedRunsAreGoneAndOthersAreWhole) {
  copy_task("one");
  copy_task("two", [](const std::string& toml) { return toml + "\n"; });
  write(work() / "tasks/two/baseline.cpp",
        content_of(work() / "tasks/two/baseline.cpp") + "// of two\n");
  make_run("one");
  EXPECT_THAT(kernelpro(optimizing("two")).exit_code, AnyOf(0, 3));
  const std::size_t before = sources();
  const Finished dry = kernelpro({"runs", "rm", "one-1", "--dry-run"});
  expect_exit(dry, 0);
  EXPECT_THAT(dry.output, HasSubstr("would remove one-1: 1 evaluations of one"));
  EXPECT_THAT(runs(), ElementsAre("one-1", "two-1"));
  const Finished removed = kernelpro({"runs", "rm", "one-1"});
  expect_exit(removed, 0);
  EXPECT_THAT(removed.output, HasSubstr("removed one-1"));
  EXPECT_THAT(runs(), ElementsAre("two-1"));
  EXPECT_LT(sources(), before);
  for (const Words& words : {Words{"show", "two-1", "0"}, Words{"show", "two-1", "1"},
                             Words{"report", "two-1"}, Words{"why", "two-1", "1"}}) {
    expect_exit(kernelpro(words), 0);
  }
  expect_exit(kernelpro({"show", "one-1"}), 2);
  EXPECT_EQ(json({"runs", "rm", "two-1"}, "cli_runs.json", 0)["runs"][0]["id"], "two-1");
  EXPECT_EQ(sources(), 0U);
  make_run("one");
  expect_exit(kernelpro({"show", "one-1", "1"}), 0);
}

TEST_F(Habits, AWrongNameRemovesNothing) {
  copy_task("one");
  make_run("one");
  const Finished wrong = kernelpro({"runs", "rm", "one-1", "one-7"});
  expect_exit(wrong, 2);
  EXPECT_THAT(wrong.errors, HasSubstr("there is no run 'one-7'; the latest are one-1"));
  EXPECT_THAT(runs(), ElementsAre("one-1"));
  expect_exit(kernelpro({"runs", "rm"}), 1);
  expect_exit(kernelpro({"runs", "rm", "one-1", "--store", "nowhere"}), 2);
  EXPECT_FALSE(fs::exists(work() / "nowhere"));
}

TEST_F(Habits, ARunThatIsWrittenToIsNotRemoved) {
  copy_task("one");
  Words words = optimizing("one");
  words[5] = "1000000";
  Running running(command(with_program(words)), work());
  ASSERT_TRUE(becomes_true([&] {
    const Finished listed = kernelpro({"runs", "--json"});
    return listed.exit_code == 0 && Json::parse(listed.output)["runs"].size() == 1;
  }));
  const Finished refused = kernelpro({"runs", "rm", "one-1"});
  expect_exit(refused, 5);
  EXPECT_THAT(refused.errors, HasSubstr("is working on the run one-1: wait for it, or end it"));
  EXPECT_THAT(runs(), ElementsAre("one-1"));
  running.signal(SIGINT);
  (void)running.end();
  expect_exit(kernelpro({"runs", "rm", "one-1"}), 0);
}

TEST_F(Habits, ADryRunNeedsNoModelAndKeepsNothing) {
  copy_task("one");
  const Finished plan = kernelpro({"optimize", "one", "--dry-run", "-n", "12", "--tier", "build"});
  expect_exit(plan, 0);
  EXPECT_THAT(plan.output, AllOf(HasSubstr("task         one in tasks/one"),
                                 HasSubstr("budget       12 candidates"), HasSubstr("moves "),
                                 HasSubstr("nothing was judged, asked or kept")));
  EXPECT_FALSE(fs::exists(store()));
}

TEST_F(Habits, ADryRunOfAModelNeedsNoKey) {
  copy_task("one");
  const Finished shown =
      kernelpro({"optimize", "one", "--dry-run", "--llm", "anthropic:some", "--timing", "0.02"});
  expect_exit(shown, 0);
  EXPECT_THAT(shown.output, AllOf(HasSubstr("--- to the planner (some)"), HasSubstr("kp_launch")));
  EXPECT_FALSE(fs::exists(store()));
  const Finished without = kernelpro({"optimize", "one", "--llm", "anthropic:some"});
  expect_exit(without, 2);
  EXPECT_THAT(without.errors, HasSubstr("no key: set ANTHROPIC_API_KEY"));
  EXPECT_FALSE(fs::exists(store()));
  expect_exit(kernelpro({"optimize", "one", "--dry-run", "--llm", "nobody:some"}), 2);
}

TEST_F(Habits, AMistakeLeavesNothingBehind) {
  copy_task("one");
  write(work() / "f.cpp",
        "void f(int n, const float* x, float* y) { for (int i = 0; i < n; ++i) "
        "y[i] = x[i] * 2; }\n");
  write(work() / "home/certificate.json", "");
  write(work() / "file", "");
  const struct {
    Words options;
    std::string said;
  } cases[] = {
      {{"--tier", "biuld"}, "biuld"},
      {{"--move", "unrol"}, "unrol"},
      {{"--search", "mtcs"}, "mtcs"},
      {{"--preset", "papr"}, "papr"},
      {{"--batch", "3"}, "--batch says how many candidates"},
      {{"--llm-tokens", "100"}, "which model is to be asked?"},
      {{"--llm", "nobody:x"}, "nobody"},
      {{"--export", "home"}, "home: an export lies there already"},
      {{"--export", "file"}, "file: a file, expected a folder"},
      {{"--from", "lost.cpp"}, "lost.cpp"},
  };
  for (const std::string task : {"one", "f.cpp:f"}) {
    for (const auto& wrong : cases) {
      const bool of_tasks = wrong.options[0] == "--export" || wrong.options[0] == "--from";
      if (task != "one" && of_tasks) {
        continue;
      }
      Words words = {"optimize", task};
      words.insert(words.end(), wrong.options.begin(), wrong.options.end());
      const Finished finished = kernelpro(words);
      expect_exit(finished, 2);
      EXPECT_THAT(finished.errors, HasSubstr(wrong.said));
      EXPECT_FALSE(fs::exists(store())) << task << " " << wrong.options[0];
    }
  }
  const Finished own = kernelpro({"optimize", "one", "--size", "n=3"});
  expect_exit(own, 1);
  EXPECT_THAT(own.errors, HasSubstr("--size: it is about FILE:FUNCTION, and \"one\" is a task"));
  EXPECT_FALSE(fs::exists(store()));
}

TEST_F(Habits, TasksAreFoundInAFolderAbove) {
  copy_task("my_wave");
  const fs::path deep = work() / "src/deep";
  fs::create_directories(deep);
  Command list = command(with_program({"task", "list"}));
  list.directory = deep.string();
  const Finished found = run_to_end(list);
  expect_exit(found, 0);
  EXPECT_THAT(found.output, AllOf(HasSubstr("my_wave "),
                                  HasSubstr("found in " + (work() / "tasks").string() + "\n")));
  fs::create_directories(work() / "src/tasks/no_task");
  EXPECT_THAT(run_to_end(list).output, HasSubstr("my_wave "))
      << "a folder without tasks is passed by";
  fs::create_directories(deep / "tasks");
  EXPECT_THAT(run_to_end(list).output, Not(HasSubstr("my_wave ")))
      << "the current folder's own counts";
}

TEST_F(Habits, WhoHoldsTheMachineIsNamedByItsCommand) {
  copy_task("one");
  fs::create_directories(work() / "locks");
  set("KERNELPRO_LOCK_DIR", (work() / "locks").string());
  Words words = optimizing("one");
  words[3] = "60";
  words[5] = "1000000";
  Running running(command(with_program(words)), work());
  ASSERT_TRUE(becomes_true([&] {
    const fs::path lock = work() / "locks/kernelpro-cpu.lock";
    return fs::exists(lock) && content_of(lock).find(" timing ") != std::string::npos;
  }));
  set("KERNELPRO_LOCK_TIMEOUT_MS", "50");
  const Finished busy = kernelpro({"evaluate", "one", data("fast.cpp"), "--timing", "0.02"});
  expect_exit(busy, 5);
  EXPECT_THAT(busy.errors, AllOf(HasSubstr("the CPU is being timed by process "),
                                 HasSubstr("(kernelpro-worker of `kernelpro optimize one ")));
  running.signal(SIGINT);
  (void)running.end();
}

}  // namespace
}  // namespace kernelpro
