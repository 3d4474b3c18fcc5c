#include "coordinator/report/run_report.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "coordinator/report/certificates.hpp"
#include "coordinator/report/node_text.hpp"

namespace kernelpro {
namespace {

using ::testing::AllOf;
using ::testing::DoubleEq;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

const std::map<std::string, std::string> tiers = {
    {"flags", "build"}, {"parallel", "pragmas"}, {"tile", "nest"}};

Node judged(NodeId id, NodeId parent, const std::string& move, double speedup) {
  Node node;
  node.id = id;
  node.parent = parent;
  node.move = move;
  node.state = NodeState::judged;
  node.outcome = speedup > 0 ? Outcome::passed : Outcome::incorrect;
  node.speedup = speedup;
  node.speedup_interval = {speedup * 0.9, speedup * 1.1};
  node.born = id * 2;
  node.ended = id * 2 + 1;
  return node;
}

Node root() {
  Node node = judged(root_node, no_node, "", 1);
  node.plan = "the baseline";
  return node;
}

Run sample_run() {
  Run run;
  run.id = "small-1";
  run.task = testing::small_task();
  run.state = RunState::finished;
  run.ended_because = "the budget of 6 evaluations is spent";
  run.best = 3;
  run.final_phases = 1;
  run.machine = "Some CPU";
  run.wall_ns = 2'000'000'000;
  run.work_ns = 1'500'000'000;
  return run;
}

kernelpro::Run running_run() {
  kernelpro::Run run = sample_run();
  run.state = RunState::running;
  run.best = root_node;
  return run;
}

// 0 ─ 1 flags 2.0 ─ 2 parallel 3.0 ─ 3 tile 6.0
//   ├ 4 tile wrong
//   └ 5 tile 1.5
// Node 3 was measured at the end.
std::vector<Node> sample_nodes() {
  std::vector<Node> nodes = {root(),
                             judged(1, 0, "flags", 2),
                             judged(2, 1, "parallel", 3),
                             judged(3, 2, "tile", 6),
                             judged(4, 0, "tile", 0),
                             judged(5, 0, "tile", 1.5)};
  nodes[3].final_phase = 1;
  nodes[3].confirmed = true;
  return nodes;
}

RunReport sample_report() {
  return make_run_report(sample_run(), sample_nodes(), tiers);
}

TEST(RunReport, FindsTheBestNodeAndWhenItWasThere) {
  const RunReport report = sample_report();
  EXPECT_EQ(report.best, 3);
  EXPECT_EQ(report.found_at, 3);
  EXPECT_EQ(report.evaluations, 5);
  EXPECT_THAT(report.progress, ElementsAre(2, 3, 6, 6, 6));
  EXPECT_THAT(report.verdicts, ElementsAre(Pair("incorrect", 1), Pair("passed", 4)));
}

TEST(RunReport, TakesTheWordOfAFinishedRunForWhatHoldsAgainstTheBaseline) {
  kernelpro::Run run = sample_run();
  run.best = 2;
  const RunReport report = make_run_report(run, sample_nodes(), tiers);
  EXPECT_EQ(report.best, 2);
  EXPECT_EQ(report.found_at, 2);
}

TEST(RunReport, TakesTheFastestWhileTheRunGoesOn) {
  const RunReport report = make_run_report(running_run(), sample_nodes(), tiers);
  EXPECT_EQ(report.best, 3);
  EXPECT_EQ(report.found_at, 3);
}

TEST(RunReport, CountsEvaluationsInTheOrderOfTheirVerdicts) {
  std::vector<Node> nodes = sample_nodes();
  std::swap(nodes[1], nodes[5]);
  nodes[1].ended = 1;  // node 5, judged before all others
  const RunReport report = make_run_report(sample_run(), nodes, tiers);
  EXPECT_THAT(report.progress, ElementsAre(1.5, 2, 3, 6, 6));
  EXPECT_EQ(report.found_at, 4);
}

TEST(RunReport, TakesBuildOptionsAndParallelAloneForTheFlagsOnlyBest) {
  EXPECT_EQ(sample_report().flags_only_best, 2);
  std::vector<Node> nodes = sample_nodes();
  nodes[2].parent = 5;  // now below a tile
  EXPECT_EQ(make_run_report(sample_run(), nodes, tiers).flags_only_best, 1);
  EXPECT_EQ(make_run_report(sample_run(), nodes, {}).flags_only_best, root_node);
}

TEST(RunReport, LetsNoDoubtfulNodeBeTheBestUnlessTheRunAllowsIt) {
  kernelpro::Run run = running_run();
  std::vector<Node> nodes = sample_nodes();
  nodes[3].suspect = true;
  EXPECT_EQ(make_run_report(run, nodes, tiers).best, 2);
  run.settings.accept_suspect = true;
  EXPECT_EQ(make_run_report(run, nodes, tiers).best, 3);
  nodes[3].precision = "bf16";
  EXPECT_EQ(make_run_report(run, nodes, tiers).best, 2);
  run.settings.allow_precision = {"bf16"};
  EXPECT_EQ(make_run_report(run, nodes, tiers).best, 3);
  nodes[3].screened = true;
  EXPECT_EQ(make_run_report(run, nodes, tiers).best, 2);
}

TEST(RunReport, SaysWhyWhatReadsFasterIsNotTheBest) {
  std::vector<Node> nodes = sample_nodes();
  nodes.push_back(judged(6, 3, "tile", 6.02));
  nodes.push_back(judged(7, 3, "tile", 60));
  nodes.back().suspect = true;
  const std::string text = run_report_text(make_run_report(sample_run(), nodes, tiers));
  EXPECT_THAT(text, HasSubstr("  also seen    node 7, 60.00: suspect; node 6, 6.02: an estimate of "
                              "the search, not measured at the end\n"));
  EXPECT_THAT(text, Not(HasSubstr("what to do")));
  nodes[6].final_phase = 1;
  nodes[6].confirmed = true;
  EXPECT_THAT(run_report_text(make_run_report(sample_run(), nodes, tiers)),
              HasSubstr("node 6, 6.02: measured at the end too, and its interval begins lower\n"));
  for (NodeId id = 8; id < 12; ++id) {
    nodes.push_back(judged(id, 3, "tile", 6.01));
  }
  EXPECT_THAT(run_report_text(make_run_report(sample_run(), nodes, tiers)),
              HasSubstr("; and 3 more\n"));
}

TEST(RunReport, CountsTheTimeOfAWorkerThatIsElsewhere) {
  kernelpro::Run run = sample_run();
  run.settings.workers = {.scheme = WorkerScheme::bundle, .places = {}, .file = "jobs"};
  std::vector<Node> nodes = sample_nodes();
  nodes[1].build_ns = 1'000'000'000;
  nodes[2].judge_ns = 3'000'000'000;
  EXPECT_THAT(run_report_text(make_run_report(run, nodes, tiers)),
              HasSubstr("2 s here, 4 s building and judging there\n"));
}

TEST(RunReport, DoesNotCountWhatWasNeverJudged) {
  std::vector<Node> nodes = sample_nodes();
  nodes[1].state = NodeState::duplicate;
  nodes[4].outcome = Outcome::not_judged;
  nodes[5].state = NodeState::in_flight;
  const RunReport report = make_run_report(sample_run(), nodes, tiers);
  EXPECT_EQ(report.evaluations, 2);
  EXPECT_EQ(report.duplicates, 1);
  EXPECT_EQ(report.in_flight, 1);
  EXPECT_THAT(report.verdicts, ElementsAre(Pair("not_judged", 1), Pair("passed", 2)));
}

TEST(RunReport, TellsWhatEachMoveGainedOverItsParent) {
  const std::vector<MoveStatistics> moves = sample_report().moves;
  ASSERT_EQ(moves.size(), 3U);
  EXPECT_EQ(moves[0].move, "tile");
  EXPECT_EQ(moves[0].tier, "nest");
  EXPECT_EQ(moves[0].tried, 3);
  EXPECT_EQ(moves[0].passed, 2);
  EXPECT_THAT(moves[0].mean_gain, DoubleNear(1.7320508, 1e-6));  // of 2 and 1.5: sqrt(3)
  EXPECT_THAT(moves[0].best_gain, DoubleEq(2));
  EXPECT_EQ(moves[1].move, "flags");
  EXPECT_THAT(moves[1].mean_gain, DoubleEq(2));
}

TEST(RunReport, SaysSoWhenNothingBeatsTheBaseline) {
  const RunReport report =
      make_run_report(running_run(), {root(), judged(1, 0, "tile", 0.5)}, tiers);
  EXPECT_EQ(report.best, root_node);
  EXPECT_EQ(report.found_at, 0);
  EXPECT_THAT(run_report_text(report), HasSubstr("best         none beats the baseline so far\n"));
  kernelpro::Run ended = running_run();
  ended.state = RunState::finished;
  EXPECT_THAT(run_report_text(make_run_report(ended, {root(), judged(1, 0, "tile", 0.5)}, tiers)),
              HasSubstr("best         none beats the baseline\n"));
}

TEST(RunReport, SaysNothingOfTheBestWhereNothingIsJudged) {
  EXPECT_THAT(run_report_text(make_run_report(running_run(), {root()}, tiers)),
              AllOf(HasSubstr("best         nothing is judged yet\n"), Not(HasSubstr("progress")),
                    Not(HasSubstr("flags only"))));
}

TEST(RunReport, NeverSaysThatNothingBeatsTheBaselineAboveAListOfFasterNodes) {
  kernelpro::Run run = sample_run();
  run.best = root_node;
  Node doubtful = judged(1, 0, "tile", 44.58);
  doubtful.suspect = true;
  RunReport report = make_run_report(run, {root(), doubtful}, tiers);
  ASSERT_EQ(report.faster.size(), 1U);
  report.faster[0].why += " (the clocks disagree)";
  const std::string text = run_report_text(report);
  EXPECT_THAT(text,
              AllOf(HasSubstr("  best         none is confirmed\n"
                              "  seen         node 1, 44.58: suspect (the clocks disagree)\n"
                              "  what to do   `kernelpro confirm small-1` measures the finalists "
                              "again; best while the machine is quiet. `kernelpro export small-1 1 "
                              "DIR --accept-suspect` takes it as it is\n"),
                    Not(HasSubstr("found after"))));
  EXPECT_THAT(text, Not(HasSubstr("none beats")));
  const nlohmann::json json = run_report_json(report);
  EXPECT_EQ(json.at("confirmed"), false);
  EXPECT_EQ(json.at("faster").at(0).at("node"), 1);
  EXPECT_EQ(json.at("faster").at(0).at("why"), "suspect (the clocks disagree)");
}

TEST(RunReport, SaysThatABestIsNotConfirmedAndHowToConfirmIt) {
  std::vector<Node> nodes = sample_nodes();
  nodes[3].confirmed = false;
  EXPECT_THAT(run_report_text(make_run_report(sample_run(), nodes, tiers)),
              AllOf(HasSubstr("flags → parallel → tile (not confirmed)\n"),
                    HasSubstr("  what to do   `kernelpro confirm small-1` measures the finalists "
                              "again; best while the machine is quiet\n")));
}

TEST(RunReport, SaysWhatCandidatesSeemToBeWhereOtherProgramsDisturbedAll) {
  std::vector<Node> nodes = sample_nodes();
  for (Node& node : nodes) {
    node.speedup = node.id == root_node ? 1 : 0.5;
    node.speedup_interval = {0.4, 0.6};
    node.confirmed = false;
  }
  nodes[3].likely = 6;
  auto run = sample_run();
  run.best = root_node;
  const std::string text = run_report_text(make_run_report(run, nodes, tiers));
  EXPECT_THAT(text, HasSubstr("No candidate of small is confirmed to be faster than its baseline"));
  EXPECT_THAT(text, HasSubstr("  best         none is confirmed\n"));
  EXPECT_THAT(text, HasSubstr("node 3, 0.50: other programs disturbed its timing; without them it "
                              "seems 6.00 times as fast"));
  EXPECT_THAT(text, HasSubstr("`kernelpro confirm small-1`"));
}

TEST(RunReport, SaysAtLeastWhereTheBaselineVaried) {
  std::vector<Node> nodes = sample_nodes();
  nodes[3].at_least = true;
  RunReport report = make_run_report(sample_run(), nodes, tiers);
  report.remarks = {"the machine was busy"};
  EXPECT_THAT(run_report_text(report),
              HasSubstr("  best         node 3, speed-up at least 6.00 [5.40, 6.60]: flags → "
                        "parallel → tile\n"
                        "  remark       the machine was busy\n"));
  EXPECT_EQ(run_report_json(report).at("best").at("at_least"), true);
  EXPECT_EQ(run_report_json(report).at("remarks").at(0), "the machine was busy");
  EXPECT_THAT(*node_text(nodes, 3, std::nullopt),
              HasSubstr("  speed-up   at least 6.00 [5.40, 6.60] over the baseline, confirmed at "
                        "the end of the run\n"));
}

TEST(RunReport, PrintsText) {
  EXPECT_EQ(run_report_text(sample_report()),
            "small runs 6.00 times as fast as its baseline on Some CPU; this was measured against "
            "the baseline again at the end and is confirmed (95 % interval 5.40 to 6.60).\n"
            "\n"
            "small-1\n"
            "  task         small: out[i] = x[i] + y[i]\n"
            "  search       mcts (default), seed 1\n"
            "  state        finished (the budget of 6 evaluations is spent)\n"
            "  time         2 s, 1.5 s of it building and judging\n"
            "  machine      Some CPU\n"
            "  verdicts     4 passed, 1 incorrect\n"
            "  best         node 3, speed-up 6.00 [5.40, 6.60]: flags → parallel → tile\n"
            "  found after  3 of 5 evaluations\n"
            "  flags only   node 2, speed-up 3.00 [2.70, 3.30]: flags → parallel\n"
            "  progress     1.00 ▄▅███ 6.00\n"
            "\n"
            "move      tier     tried  passed  mean gain  best gain\n"
            "------------------------------------------------------\n"
            "tile      nest         3       2       1.73       2.00\n"
            "flags     build        1       1       2.00       2.00\n"
            "parallel  pragmas      1       1       1.50       1.50\n");
}

TEST(RunReport, PrintsMarkdownWithBarsEscaped) {
  kernelpro::Run run = sample_run();
  run.machine = "a|b";
  const std::string text = run_report_markdown(make_run_report(run, sample_nodes(), tiers));
  EXPECT_THAT(text, AllOf(HasSubstr("# small-1\n\nsmall runs 6.00 times as fast"),
                          HasSubstr("| machine | a\\|b |\n"),
                          HasSubstr("| move | tier | tried | passed | mean gain | best gain |\n"
                                    "|---|---|---|---|---|---|\n"
                                    "| tile | nest | 3 | 2 | 1.73 | 2.00 |\n")));
}

TEST(RunReport, PrintsJson) {
  const nlohmann::json json = run_report_json(sample_report());
  EXPECT_EQ(json.at("run"), "small-1");
  EXPECT_EQ(json.at("best").at("id"), 3);
  EXPECT_EQ(json.at("best").at("moves"), nlohmann::json({"flags", "parallel", "tile"}));
  EXPECT_EQ(json.at("flags_only_best").at("speedup"), 3.0);
  EXPECT_EQ(json.at("verdicts").at("passed"), 4);
  EXPECT_EQ(json.at("progress").size(), 5U);
  EXPECT_EQ(json.at("moves").at(0).at("tried"), 3);
}

TEST(Sparkline, FitsManyValuesIntoItsColumnsAndEndsAtTheTop) {
  std::vector<double> values(100, 1.0);
  values.back() = 8;
  std::string expected;
  for (int i = 0; i < 39; ++i) {
    expected += "▁";
  }
  EXPECT_EQ(sparkline(values, 40), expected + "█");
  EXPECT_EQ(sparkline({1, 1}, 40), "▁▁");
  EXPECT_EQ(sparkline({}, 40), "");
}

TEST(NodeText, ShowsMovePlanReasonsVerdictAndLineage) {
  std::vector<Node> nodes = sample_nodes();
  nodes[3].site = "loops i, j";
  nodes[3].plan = "tile both loops by 32";
  nodes[3].reasons = {"node 2: the best so far", "widened: 3 visits"};
  nodes[3].options = {"-O3", "target"};
  nodes[3].diagnosis = {Bottleneck::memory,   0.8, "80 % of the bandwidth",
                        KernelClass::unknown, {},  {}};
  const Certificate certificate =
      testing::passed_certificate(testing::small_task(), testing::small_source("x[i] + y[i]"));
  const auto text = node_text(nodes, 3, certificate);
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(
      *text,
      AllOf(HasSubstr("node 3: passed\n"),
            HasSubstr("  move       tile at loops i, j, from node 2\n"),
            HasSubstr("  plan       tile both loops by 32\n"),
            HasSubstr("  build      default compiler -O3 target\n"),
            HasSubstr("  chosen     node 2: the best so far\n"
                      "             widened: 3 visits\n"),
            HasSubstr("  speed-up   6.00 [5.40, 6.60] over the baseline, confirmed at the "
                      "end of the run\n"),
            HasSubstr("  diagnosis  memory: 80 % of the bandwidth\n"), HasSubstr("n=20000")));
  EXPECT_THAT(*text, HasSubstr("   0  baseline              passed       1.00\n"
                               "   1  flags                 passed       2.00\n"
                               "   2  parallel              passed       3.00\n"
                               "   3  tile      loops i, j  passed       6.00\n"));
}

TEST(NodeText, NamesWhatToolsFoundAndThatModelsWroteIt) {
  std::vector<Node> nodes = sample_nodes();
  nodes[3].by_models = true;
  for (const auto& [tool, title] : {std::pair("narrow_loads", "Loads of \x1b 32 bits"),
                                    std::pair("bank_conflicts", "Two turns where one would do")}) {
    Finding finding;
    finding.tool = tool;
    finding.title = title;
    finding.predicted_gain = 1.25;
    nodes[3].diagnosis.findings.push_back(finding);
  }
  const auto text = node_text(nodes, 3, std::nullopt);
  ASSERT_TRUE(text);
  EXPECT_THAT(*text,
              AllOf(HasSubstr("  found      narrow_loads (predicted 1.25): Loads of ? 32 bits\n"
                              "             bank_conflicts (predicted 1.25): Two turns"),
                    HasSubstr(", written by models\n")));
}

TEST(NodeText, ShowsTheEvidenceOfAFailure) {
  std::vector<Node> nodes = sample_nodes();
  Certificate certificate =
      testing::passed_certificate(testing::small_task(), testing::small_source("x[i]"));
  certificate.verdict.outcome = Outcome::incorrect;
  certificate.verdict.evidence = {"out[7] is 3, expected 4"};
  certificate.verdict.timing = {};
  const auto text = node_text(nodes, 4, certificate);
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text,
              AllOf(HasSubstr("node 4: incorrect\n"), HasSubstr("  - out[7] is 3, expected 4\n"),
                    Not(HasSubstr("over the baseline"))));
}

TEST(NodeText, ShowsWhatADuplicateWasTriedAs) {
  std::vector<Node> nodes = sample_nodes();
  nodes[5].state = NodeState::duplicate;
  nodes[5].same_as = 3;
  const auto text = node_text(nodes, 5, std::nullopt);
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, HasSubstr("node 5: duplicate of node 3\n"));
}

TEST(NodeText, SaysNothingOfWhatIsNotKnownYet) {
  std::vector<Node> nodes = sample_nodes();
  for (const NodeState state : {NodeState::unwritten, NodeState::proposing}) {
    Node fresh;
    fresh.id = 5;
    fresh.parent = 2;
    fresh.state = state;
    fresh.reasons = {"the best so far"};
    nodes[5] = fresh;
    const auto text = node_text(nodes, 5, std::nullopt);
    ASSERT_TRUE(text.ok());
    EXPECT_THAT(*text, AllOf(HasSubstr("\n  from       node 2\n  chosen     the best so far\n"),
                             Not(HasSubstr("\n  move")), Not(HasSubstr("predicted")),
                             Not(HasSubstr("build"))));
  }
}

TEST(NodeText, DoesNotLetModelsSpeakToTheTerminal) {
  std::vector<Node> nodes = sample_nodes();
  nodes[5].plan = "tile\x1b[2J by\n32";
  nodes[5].reasons = {"mishap: reviewer: objected: \x1b]0;x\x07 no"};
  nodes[5].options = {"-O3\x1b[31m"};
  nodes[5].summary = "the planner's answers\n\x1b[1m";
  const auto text = node_text(nodes, 5, std::nullopt);
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\x07")),
                           HasSubstr("  plan       tile?[2J by 32\n"),
                           HasSubstr("objected: ?]0;x? no\n"), HasSubstr(" -O3?[31m\n")));
}

TEST(NodeText, NamesTheNodesThereAre) {
  const auto text = node_text(sample_nodes(), 17, std::nullopt);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().text(), "the run has no node 17; its nodes are 0 to 5");
}

}  // namespace
}  // namespace kernelpro
