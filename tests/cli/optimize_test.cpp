// Runs: made, looked at, resumed and taken home, with the real programs.
#include "cli/running.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class Optimize : public Cli {
 protected:
  // Short rounds: what is tested here is not the clock.
  [[nodiscard]] static Words optimizing(Words more) {
    Words words = {"optimize", data("wave"), "--timing", "0.02", "--accept-suspect"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  [[nodiscard]] Json wave_run(const std::string& evaluations) const {
    return ended_run(optimizing({"-n", evaluations, "--tier", "build", "--quiet"}));
  }

  void recorded_run(const std::string& evaluations) const {
    Words words = optimizing({"-n", evaluations, "--tier", "build", "--quiet"});
    const Words workers = recorded_workers();
    words.insert(words.end(), workers.begin(), workers.end());
    (void)ended_run(words);
  }

  // It builds and measures itself in an empty folder.
  void expect_exported() const {
    const Json exported = json({"export", "wave-1", "home"}, "cli_export.json", 0);
    EXPECT_THAT(exported["files"], Contains("bench.cpp"));
    Command build = command({"/bin/sh", "-c", "sh build.sh && ./bench"});
    build.directory = (work() / "home").string();
    const Finished measured = run_to_end(build);
    expect_exit(measured, 0);
    EXPECT_THAT(measured.output, HasSubstr("speed-up"));
    const Finished again = kernelpro({"export", "wave-1", "home"});
    expect_exit(again, 2);
    EXPECT_THAT(again.errors, HasSubstr("kernel.cpp"));
    expect_exit(kernelpro({"export", "wave-1", "home", "--overwrite"}), 0);
    expect_exit(kernelpro({"verify", "home/certificate.json", "--timing", "0.02"}), 0);
  }

  // The finalists are measured again, and nothing else.
  void expect_confirmed_again(const Json& run) const {
    EXPECT_EQ(run["confirmed"], true);
    EXPECT_GT(run["machine_load"]["processors"], 0);
    const Finished again = kernelpro({"confirm", "wave-1"});
    expect_exit(again, 0);
    EXPECT_THAT(again.errors, ContainsRegex("finalist, node [0-9]+: passed "));
    EXPECT_THAT(again.output, HasSubstr("  best         node "));
    const Json report = json({"confirm", "wave-1", "--quiet"}, "cli_report.json", 0);
    EXPECT_EQ(report["state"], "finished");
    EXPECT_EQ(report["evaluations"], run["evaluations"]);
    EXPECT_EQ(report["confirmed"], true);
    EXPECT_EQ(report["best"]["confirmed"], true);
    EXPECT_EQ(json({"report", "wave-1"}, "cli_report.json", 0)["best"], report["best"]);
    const Finished unknown = kernelpro({"confirm", "wave-9"});
    expect_exit(unknown, 2);
    EXPECT_THAT(unknown.errors, HasSubstr("there is no run 'wave-9'"));
  }
};

TEST_F(Optimize, FindsSomethingFasterAndTellsEverythingAboutIt) {
  const Finished made = kernelpro(optimizing({"-n", "6"}));
  expect_exit(made, 0);
  EXPECT_THAT(made.output, AllOf(HasSubstr("wave-1"), HasSubstr("finished"), HasSubstr("best")));
  EXPECT_THAT(made.errors,
              AllOf(HasSubstr("run wave-1 in "), HasSubstr("node 0: the baseline"),
                    ContainsRegex("\\[6/6 best (at least )?[0-9.]+x\\] node [0-9]+ of ")));
  const Json runs = json({"runs"}, "cli_runs.json", 0);
  ASSERT_THAT(runs["runs"], SizeIs(1));
  EXPECT_EQ(runs["runs"][0]["evaluations"], 6);
  EXPECT_GT(runs["runs"][0]["best_speedup"], 1);
  const Json shown = json({"show", "wave-1"}, "cli_show.json", 0);
  EXPECT_EQ(shown["node"]["id"], runs["runs"][0]["best"]);
  EXPECT_EQ(shown["certificate"]["verdict"]["outcome"], "passed");
  const Finished page = kernelpro({"show", "wave-1", "1"});
  expect_exit(page, 0);
  EXPECT_THAT(page.output, AllOf(HasSubstr("source\n"), HasSubstr("difference to its parent"),
                                 HasSubstr("kp_launch")));
  const Json why = json({"why", "wave-1", "1"}, "cli_why.json", 0);
  EXPECT_THAT(why["chosen_because"], Not(IsEmpty()));
  EXPECT_THAT(kernelpro({"why", "wave-1", "1"}).output, HasSubstr("why its parent was chosen"));
  EXPECT_THAT(kernelpro({"report", "wave-1", "--format", "markdown"}).output,
              HasSubstr("# wave-1"));
}

TEST_F(Optimize, ConfirmMeasuresTheFinalistsAgainAndTheBestIsExported) {
  const Json run = wave_run("3");
  ASSERT_GT(run["best"]["id"], 0);
  expect_exported();
  expect_confirmed_again(run);
}

TEST_F(Optimize, TheBaselineIsExportedOnlyToWhoNamesIt) {
  const Finished made =
      kernelpro(optimizing({"-n", "1", "--from", data("wrong.cpp"), "--export", "home"}));
  expect_exit(made, 3);
  EXPECT_THAT(made.output, AllOf(HasSubstr("  best         none beats the baseline\n"),
                                 Not(HasSubstr("found after"))));
  EXPECT_THAT(made.errors, HasSubstr("nothing was exported: no candidate is confirmed to be faster "
                                     "than the baseline\n"));
  const Finished refused = kernelpro({"export", "wave-1", "home"});
  expect_exit(refused, 3);
  EXPECT_THAT(refused.errors,
              AllOf(HasSubstr("run wave-1: it has no candidate that is confirmed to be faster than "
                              "the baseline. `kernelpro resume wave-1 -n N` tries more"),
                    HasSubstr("0 is the baseline")));
  EXPECT_FALSE(fs::exists(work() / "home"));
  const Finished nothing = kernelpro({"confirm", "wave-1"});
  expect_exit(nothing, 2);
  EXPECT_THAT(nothing.errors, HasSubstr("no candidate of it has passed"));
  expect_exit(kernelpro({"export", "wave-1", "0", "home"}), 0);
  EXPECT_TRUE(fs::exists(work() / "home" / "kernel.cpp"));
}

TEST_F(Optimize, SearchesFromACandidateOfTheUser) {
  const Finished made = kernelpro(optimizing({"-n", "2", "--from", data("fast.cpp")}));
  EXPECT_THAT(made.errors, HasSubstr("node 1 of 0: start (fast): passed"));
  const Json shown = json({"show", "wave-1", "1"}, "cli_show.json", 0);
  EXPECT_EQ(shown["node"]["plan"], "given to search from: fast");
  const Finished missing = kernelpro(optimizing({"--from", "nobody.cpp"}));
  expect_exit(missing, 2);
  EXPECT_THAT(missing.errors, AllOf(HasSubstr("--from"), HasSubstr("nobody.cpp")));
}

TEST_F(Optimize, SeveralRunsGiveOneTable) {
  recorded_run("2");
  recorded_run("2");
  const Finished table = kernelpro({"report", "wave-1", "wave-2"});
  expect_exit(table, 0);
  EXPECT_THAT(table.output, AllOf(HasSubstr("flags only"), HasSubstr("2 passed")));
  EXPECT_THAT(json({"report", "wave-1", "wave-2"}, "cli_report.json", 0)["runs"], SizeIs(2));
}

TEST_F(Optimize, ControlCShowsTheTableSoFarAndResumeGoesOn) {
  Running running(command(with_program(optimizing({"-n", "500"}))), work());
  ASSERT_TRUE(becomes_true([&] { return running.errors().find("[3/500") != std::string::npos; }));
  running.signal(SIGINT);
  EXPECT_EQ(running.end(), 130);
  EXPECT_THAT(running.output(), AllOf(HasSubstr("wave-1"), HasSubstr("interrupted")));
  EXPECT_THAT(running.errors(), HasSubstr("`kernelpro resume wave-1` goes on"));
  const Json before = json({"report", "wave-1"}, "cli_report.json", 0);
  EXPECT_EQ(before["state"], "interrupted");
  const std::int64_t judged = before["evaluations"];
  const Json after = ended_run({"resume", "wave-1", "-n", std::to_string(judged + 2), "--quiet"});
  EXPECT_EQ(after["evaluations"], judged + 2);
}

TEST_F(Optimize, AFinishedRunThatGoesOnAndIsKilledIsNotFinished) {
  (void)wave_run("1");
  Running running(command(with_program({"resume", "wave-1", "-n", "500"})), work());
  ASSERT_TRUE(becomes_true([&] { return running.errors().find("[3/500") != std::string::npos; }));
  running.signal(SIGKILL);
  EXPECT_EQ(running.end(), -SIGKILL);
  const Json runs = json({"runs"}, "cli_runs.json", 0);
  EXPECT_EQ(runs["runs"][0]["state"], "interrupted");
  EXPECT_EQ(runs["runs"][0]["budget"], 500);
  const Finished table = kernelpro({"runs"});
  EXPECT_THAT(table.output, AllOf(HasSubstr("interrupted"), Not(HasSubstr("finished"))));
  EXPECT_EQ(json({"report", "wave-1"}, "cli_report.json", 0)["state"], "interrupted");
}

TEST_F(Optimize, WhatIsWrongIsSaid) {
  const auto complaint = [this](const Words& arguments, int exit_code) {
    const Finished finished = kernelpro(arguments);
    expect_exit(finished, exit_code);
    return finished.errors;
  };
  EXPECT_THAT(complaint({"runs"}, 2), HasSubstr("kernelpro optimize"));
  EXPECT_THAT(complaint(optimizing({"--search", "clever"}), 2),
              AllOf(HasSubstr("clever"), HasSubstr("mcts")));
  EXPECT_THAT(complaint(optimizing({"--move", "magic", "-n", "1"}), 2),
              AllOf(HasSubstr("there is no move \"magic\""), HasSubstr("register_block")));
  recorded_run("1");
  EXPECT_THAT(complaint({"show", "gone-1"}, 2), AllOf(HasSubstr("gone-1"), HasSubstr("wave-1")));
  EXPECT_THAT(complaint({"show", "wave-1", "99"}, 2), HasSubstr("it has no node 99"));
  EXPECT_THAT(complaint({"export", "wave-1", "many", "home"}, 1),
              HasSubstr("expected the number of a node, found \"many\""));
}

// At each stage that can be seen from outside. tests/coordinator/app/kills_test.cpp dies at every
// write of a run, tests/coordinator/store at any moment of a write.
TEST_F(Optimize, AKillAtAnyStageLosesAtMostTheEvaluationUnderWay) {
  Words words = optimizing({"-n", "100000"});
  std::int64_t judged = 0;
  for (const char* const stage :
       {"run wave-1", "node 0: the baseline", "] node ", "run wave-1", "] node ", "run wave-1"}) {
    Running running(command(with_program(words)), work());
    ASSERT_TRUE(becomes_true([&] { return running.errors().find(stage) != std::string::npos; }))
        << stage;
    running.signal(SIGKILL);
    EXPECT_EQ(running.end(), -SIGKILL);
    words = {"resume", "wave-1"};
    const Json report = json({"report", "wave-1"}, "cli_report.json", 0);
    EXPECT_GE(report["evaluations"], judged) << "killed at " << stage;
    EXPECT_LE(report["in_flight"], 2);
    judged = report["evaluations"];
  }
  EXPECT_GE(judged, 2);
  const Json end = ended_run({"resume", "wave-1", "-n", std::to_string(judged + 2), "--quiet"});
  EXPECT_EQ(end["evaluations"], judged + 2);
  EXPECT_EQ(end["in_flight"], 0);
}

}  // namespace
}  // namespace kernelpro
