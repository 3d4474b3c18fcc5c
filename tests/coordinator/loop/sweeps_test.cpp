// The tuner inside the loop: a node's tunables swept as one expansion.
#include "coordinator/loop/sweeps.hpp"

#include <set>

#include "coordinator/loop/loop_fixture.hpp"

namespace kernelpro {
namespace {

using ::testing::HasSubstr;

// The fixture's formula knows N; of M there are programs that are equally fast.
class SweepTest : public LoopTest {
 protected:
  SweepTest() {
    run_.task.files["base.cpp"] =
        "// kp:tune N = 1 2 3 4 5 6 7 8 9\nconstexpr int N = 1;\n"
        "// kp:tune M = 1 2 4 8\nconstexpr int M = 1;\n";
    run_.settings.sweep = true;
    run_.settings.evaluations = 40;
  }

  [[nodiscard]] std::vector<const Node*> swept() const {
    std::vector<const Node*> found;
    for (const Node& node : journal_.nodes) {
      if (node.move == "tune") {
        found.push_back(&node);
      }
    }
    return found;
  }
  [[nodiscard]] std::vector<std::string> sites() const {
    std::vector<std::string> all;
    for (const Node& node : journal_.nodes) {
      all.push_back(std::to_string(node.parent) + " " + node.move + " " + node.site);
    }
    return all;
  }
};

TEST_F(SweepTest, FindsValuesThatStepsWouldTakeLongFor) {
  run_.settings.tiers = {"tune"};
  run_.settings.evaluations = 24;
  work();
  EXPECT_GE(best().speedup, 1.8 / 1.1);
  EXPECT_THAT(best().site, HasSubstr("N = "));
}

TEST_F(SweepTest, EveryProgramIsANodeAndAnEvaluationUnderTheSweptOne) {
  work();
  EXPECT_EQ(charged(), 40);
  const std::vector<const Node*> nodes = swept();
  ASSERT_GT(nodes.size(), 3U);
  std::set<std::string> keys;
  for (const Node* node : nodes) {
    keys.insert(node->candidate_key);
    EXPECT_THAT(node->reasons.front(), HasSubstr("the tuner sweeps the tunables of node"));
    EXPECT_EQ(node->plan, "The tuner's choice: " + node->site);
  }
  EXPECT_EQ(keys.size(), nodes.size()) << "no program twice";
}

TEST_F(SweepTest, OneSweepTakesAQuarterOfTheRunAtMost) {
  run_.settings.tiers = {"tune"};
  work();
  std::map<NodeId, int> by_parent;
  for (const Node* node : swept()) {
    ++by_parent[node->parent];
  }
  for (const auto& [parent, count] : by_parent) {
    EXPECT_LE(count, 10) << parent;
  }
  EXPECT_EQ(by_parent.size(), 1U) << "all are one program but for tunables";
  EXPECT_EQ(run_.ended_because, "nothing is left to try");
}

TEST_F(SweepTest, ASourceWithoutTunablesIsNotSwept) {
  run_.task.files["base.cpp"] = "int plain;\n";
  work();
  EXPECT_TRUE(swept().empty());
}

TEST_F(SweepTest, ARunThatIsStoppedAnywhereEndsWithTheSameTree) {
  for (const int in_flight : {1, 3}) {
    run_.settings.in_flight = in_flight;
    journal_.clear();
    laboratory_.judged = 0;
    laboratory_.stop = std::stop_source();
    laboratory_.stop_after = 0;
    work();
    const std::vector<std::string> whole = sites();
    for (int stop_after = 1; stop_after < 40; stop_after += 4) {
      journal_.clear();
      laboratory_.judged = 0;
      laboratory_.stop = std::stop_source();
      laboratory_.stop_after = stop_after;
      work();
      laboratory_.stop = std::stop_source();
      laboratory_.stop_after = 0;
      work({journal_.nodes, journal_.closures});
      EXPECT_EQ(sites(), whole) << in_flight << " in flight, stopped after " << stop_after;
    }
  }
}

TEST_F(SweepTest, LostWorkersChangeNothingOfWhatASweepPromises) {
  laboratory_.lose_every = 3;
  work();
  EXPECT_LE(charged(), 40);
  EXPECT_EQ(run_.state, RunState::finished);
  EXPECT_GT(best().speedup, 2);
}

TEST_F(SweepTest, EndsAtTheShareOfTheBoundThatIsAskedFor) {
  laboratory_.bound = 10;
  run_.settings.stop_at = 0.3;
  work();
  EXPECT_GE(best().diagnosis.share_of_bound, 0.3);
  EXPECT_THAT(run_.ended_because, HasSubstr("% of the bound, and 30 % were asked for"));
  EXPECT_LT(charged(), 40);
}

TEST(SweepsTest, BeginsWithTheBestOfARelatedSweep) {
  kernelpro::Run run;
  run.settings.evaluations = 100;
  Sweeps sweeps(run);
  Candidate candidate;
  candidate.source = "// kp:tune N = 1 2 3 4 5\nconstexpr int N = 2;\n";
  Node node;
  node.state = NodeState::judged;
  node.outcome = Outcome::passed;
  node.speedup = 1;
  ASSERT_TRUE(sweeps.open(node, candidate, "tune"));
  Proposal first = sweeps.propose(0, 1).value().value();
  Node child = node;
  child.id = 1;
  child.speedup = 3;
  const std::optional<Sweeps::Credit> credit = sweeps.ended(child, child);
  ASSERT_TRUE(credit);
  EXPECT_TRUE(credit->first);
  EXPECT_NEAR(credit->log_gain, std::log(3), 1e-12);
  EXPECT_FALSE(sweeps.ended(node, node)) << "it is of no sweep";
  Node other = node;
  other.id = 2;
  candidate.source += "int more;\n";
  ASSERT_TRUE(sweeps.open(other, candidate, "tune"));
  EXPECT_EQ(sweeps.propose(2, 3).value().value().site, first.site);
  EXPECT_EQ(first.move, "tune");
}

}  // namespace
}  // namespace kernelpro
