#include "coordinator/report/sentences.hpp"

#include <gmock/gmock.h>

#include "support/profiles.hpp"
#include "support/small_task.hpp"

namespace kernelpro {
namespace {

Node tried(NodeId id, NodeId parent, double speedup) {
  Node node;
  node.id = id;
  node.parent = parent;
  node.move = id == root_node ? "" : "tile";
  node.site = id == root_node ? "" : "loops i, j";
  node.state = NodeState::judged;
  node.outcome = speedup > 0 ? Outcome::passed : Outcome::incorrect;
  node.speedup = speedup;
  node.speedup_interval = {speedup * 0.9, speedup * 1.1};
  node.ended = id + 1;
  return node;
}

// Node 2 is the best of a finished run.
kernelpro::Run ended_run() {
  kernelpro::Run run;
  run.id = "small-1";
  run.task = testing::small_task();
  run.machine = "Some CPU";
  run.state = RunState::finished;
  run.best = 2;
  run.final_phases = 1;
  return run;
}

std::vector<Node> three_nodes() {
  std::vector<Node> nodes = {tried(0, no_node, 1), tried(1, 0, 2), tried(2, 1, 3)};
  nodes[2].final_phase = 1;
  nodes[2].confirmed = true;
  return nodes;
}

std::string sentence(const kernelpro::Run& run, const std::vector<Node>& nodes) {
  return run_sentence(make_run_report(run, nodes, {}));
}

TEST(RunSentence, SaysWhatWasReachedWhereAndHowSure) {
  std::vector<Node> nodes = three_nodes();
  EXPECT_EQ(sentence(ended_run(), nodes),
            "small runs 3.00 times as fast as its baseline on Some CPU; this was measured against "
            "the baseline again at the end and is confirmed (95 % interval 2.70 to 3.30).");
  nodes[2].at_least = true;
  EXPECT_EQ(sentence(ended_run(), nodes),
            "small runs at least 3.00 times as fast as its baseline on Some CPU; this was measured "
            "against the baseline again at the end and is confirmed (95 % interval 2.70 to 3.30); "
            "the machine was busy, so that it may be more.");
  RunReport report = make_run_report(ended_run(), three_nodes(), {});
  report.judged_on = "Some GPU";
  EXPECT_THAT(run_sentence(report), ::testing::HasSubstr("its baseline on Some GPU;"));
}

TEST(RunSentence, SaysThatAnEstimateIsOne) {
  std::vector<Node> nodes = three_nodes();
  nodes[2].confirmed = false;
  EXPECT_EQ(sentence(ended_run(), nodes),
            "small runs 3.00 times as fast as its baseline on Some CPU; this is not confirmed, so "
            "take it as an estimate (95 % interval 2.70 to 3.30).");
  kernelpro::Run run = ended_run();
  run.state = RunState::interrupted;
  EXPECT_EQ(sentence(run, nodes),
            "small runs 3.00 times as fast as its baseline on Some CPU; this is an estimate so "
            "far, and the end of the run has yet to confirm it (95 % interval 2.70 to 3.30).");
}

TEST(RunSentence, SaysThatNothingWasReached) {
  kernelpro::Run run = ended_run();
  run.best = root_node;
  EXPECT_EQ(sentence(run, {tried(0, no_node, 1), tried(1, 0, 0.5)}),
            "None of the 1 judged candidates of small is faster than its baseline on Some CPU.");
  EXPECT_EQ(sentence(run, {}), "No candidate of small has been judged.");
  std::vector<Node> nodes = {tried(0, no_node, 1), tried(1, 0, 4)};
  nodes[1].suspect = true;
  EXPECT_EQ(sentence(run, nodes),
            "No candidate of small is confirmed to be faster than its baseline on Some CPU: 1 of 1 "
            "read faster, and none of them counts yet.");
  run.state = RunState::running;
  EXPECT_EQ(sentence(run, {tried(0, no_node, 1)}), "No candidate of small has been judged yet.");
}

TEST(NodeSentence, SaysWhatWasTriedAndWhatCameOfIt) {
  std::vector<Node> nodes = three_nodes();
  nodes.push_back(tried(3, 1, 0));
  nodes[3].rule = "precision";
  nodes.push_back(tried(4, 1, 1));
  nodes[4].state = NodeState::duplicate;
  nodes[4].same_as = 2;
  nodes.push_back(tried(5, 1, 1));
  nodes[5].state = NodeState::proposing;
  nodes[5].move = "";
  const RunReport report = make_run_report(ended_run(), nodes, {});
  const auto said = [&](NodeId id, bool closed) {
    return node_sentence(report, nodes[static_cast<std::size_t>(id)], closed);
  };
  EXPECT_EQ(said(0, true),
            "Node 0 of run small-1 is the task's baseline, where the search begins; nothing more "
            "is tried on it.");
  EXPECT_EQ(said(1, false),
            "Node 1 of run small-1 tried the move tile at loops i, j on node 0: it passed and runs "
            "2.00 times as fast as the baseline.");
  EXPECT_EQ(said(2, false),
            "Node 2 of run small-1 tried the move tile at loops i, j on node 1: it passed and runs "
            "3.00 times as fast as the baseline, 1.50 times as fast as its parent.");
  EXPECT_EQ(said(3, true),
            "Node 3 of run small-1 tried the move tile at loops i, j on node 1: it computed wrong "
            "results (precision); nothing more is tried on it.");
  EXPECT_EQ(said(4, false),
            "Node 4 of run small-1 tried the move tile at loops i, j on node 1: it is the same as "
            "node 2 and was not judged again.");
  EXPECT_EQ(said(5, false), "Node 5 of run small-1, a child of node 1, is being written.");
}

TEST(DiagnosisSentence, SaysWhatHoldsItBackAndWhatIsToBeGained) {
  Diagnosed diagnosed = testing::sample_diagnosed();
  EXPECT_EQ(diagnosis_sentence(diagnosed),
            "On Some GPU, ./scale --size 4096 is held back by the GPU's memory (90 % sure, by its "
            "main kernel scale(float*)). The most promising finding is \"Threads of a warp read "
            "addresses far apart\": removing it is predicted to make it 1.85 times as fast.");
  diagnosed.report.kind = KernelClass::unknown;
  diagnosed.report.findings.clear();
  diagnosed.profile.device = "";
  EXPECT_EQ(diagnosis_sentence(diagnosed),
            "./scale --size 4096 is held back by something that could not be told; no tool found a "
            "defect.");
}

TEST(DiagnosisSentence, SpeaksOfFunctionsAndProcessorsWhereThereIsNoGpu) {
  Diagnosed diagnosed = testing::sample_diagnosed();
  diagnosed.profile.host = HostRun{};
  diagnosed.profile.device = "";
  diagnosed.report.findings.clear();
  EXPECT_EQ(diagnosis_sentence(diagnosed),
            "./scale --size 4096 is held back by memory (90 % sure, by its main function "
            "scale(float*)); no tool found a defect.");
  diagnosed.report.kind = KernelClass::tail;
  EXPECT_EQ(diagnosis_sentence(diagnosed),
            "./scale --size 4096 is held back by idle processors; no tool found a defect.");
}

}  // namespace
}  // namespace kernelpro
