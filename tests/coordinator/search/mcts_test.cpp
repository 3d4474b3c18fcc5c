#include "coordinator/search/mcts.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

namespace kernelpro {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Progress no_progress;

class MctsTest : public ::testing::Test {
 protected:
  void add(NodeId child, NodeId parent, Outcome outcome, double speedup = 0, bool eligible = true) {
    for (Search* search : {&paper_, &ours_}) {
      search->begin(child, parent);
      search->tell({.node = child, .outcome = outcome, .speedup = speedup, .eligible = eligible});
    }
  }
  void close(NodeId node) {
    paper_.close(node, "no move applies");
    ours_.close(node, "no move applies");
  }

  Mcts paper_{paper_rules()};
  Mcts ours_{steady_rules()};
};

TEST(PaperRulesTest, TheGateIsAFactorTimesTheRootOfVisits) {
  const auto rules = paper_rules();
  EXPECT_EQ(rules->width({.visits = 0}), 1);
  EXPECT_EQ(rules->width({.is_root = true, .visits = 1}), 2);
  EXPECT_EQ(rules->width({.is_root = true, .visits = 8}), 5);
  EXPECT_EQ(rules->width({.failed = true, .visits = 8}), 5);
  EXPECT_EQ(rules->width({.visits = 8}), 8);
}

TEST(PaperRulesTest, ScoresAreMeansAndUpperConfidenceBounds) {
  const auto rules = paper_rules();
  const Branch parent{.visits = 9, .rewarded = 9, .total = 4.5, .children = 2};
  const Branch child{.visits = 4, .rewarded = 4, .total = 3.0};
  const Score score = rules->child(parent, child, no_progress);
  EXPECT_DOUBLE_EQ(score.value, 0.75);
  EXPECT_DOUBLE_EQ(score.exploration, 1.414 * std::sqrt(std::log(9.0) / 4));
  const Score next = rules->next_child(parent, no_progress);
  EXPECT_DOUBLE_EQ(next.value, 0.5);
  EXPECT_DOUBLE_EQ(next.exploration, 1.414 * std::sqrt(std::log(9.0) / 3));
}

TEST(PaperRulesTest, FailuresCostByKind) {
  const auto rules = paper_rules();
  EXPECT_EQ(rules->failure_reward(Outcome::build_failed), -3);
  for (const Outcome outcome :
       {Outcome::launch_failed, Outcome::crashed, Outcome::timed_out, Outcome::out_of_memory,
        Outcome::incorrect, Outcome::unstable, Outcome::cheated}) {
    EXPECT_EQ(rules->failure_reward(outcome), -2) << name_of(outcome);
  }
}

TEST_F(MctsTest, PaperDescendsIntoAChildThatGained) {
  add(0, no_node, Outcome::passed, 1);
  add(1, 0, Outcome::passed, 2);
  const std::optional<Choice> choice = paper_.ask();
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->parent, 1);
  EXPECT_THAT(choice->reasons,
              ElementsAre("node 0 (1.00x, 2 visits): widening gate open: 1 < 2 children; a new "
                          "child's 1.52 = mean 0.35 + exploration 1.18 does not beat node 1's 1.87",
                          "node 1 (2.00x, 1 visit): 1.87 = mean 0.69 + exploration 1.18; no child "
                          "of it can be expanded, so it gets another"));
}

TEST_F(MctsTest, PaperWidensPastAChildThatFailed) {
  add(0, no_node, Outcome::passed, 1);
  add(1, 0, Outcome::build_failed);
  const std::optional<Choice> choice = paper_.ask();
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->parent, 0);
  EXPECT_THAT(choice->reasons,
              ElementsAre("node 0 (1.00x, 2 visits): widening gate open: 1 < 2 children; a new "
                          "child's -0.32 = mean -1.50 + exploration 1.18 beats node 1's -1.82"));
}

TEST_F(MctsTest, PaperCapsTheRewardOfVerySlowNodes) {
  add(0, no_node, Outcome::passed, 1);
  add(1, 0, Outcome::passed, 0.001);
  EXPECT_THAT(paper_.explain(1), Contains(HasSubstr("best reward -2.30")));
}

TEST_F(MctsTest, AClosedGateSendsTheSearchDown) {
  add(0, no_node, Outcome::passed, 1);
  add(1, 0, Outcome::passed, 1);
  add(2, 0, Outcome::passed, 1);
  add(3, 0, Outcome::passed, 1);
  add(4, 0, Outcome::passed, 1);
  EXPECT_THAT(paper_.ask()->reasons.front(), HasSubstr("widening gate closed: 4 of 4 children"));
  EXPECT_EQ(paper_.ask()->parent, 1);
}

TEST_F(MctsTest, AFailureWithThreeFailedChildrenIsADeadEnd) {
  add(0, no_node, Outcome::passed, 1);
  add(1, 0, Outcome::incorrect);
  close(0);
  add(2, 1, Outcome::incorrect);
  add(3, 1, Outcome::crashed);
  EXPECT_TRUE(paper_.ask());
  EXPECT_TRUE(ours_.ask());
  add(4, 1, Outcome::build_failed);
  for (Search* search : {static_cast<Search*>(&paper_), static_cast<Search*>(&ours_)}) {
    EXPECT_FALSE(search->ask());
    EXPECT_THAT(search->explain(1), Contains("its branch is given up as a dead end"));
  }
}

TEST_F(MctsTest, ANodeThatPassedIsNoDeadEnd) {
  add(0, no_node, Outcome::passed, 1);
  for (NodeId child = 1; child <= 6; ++child) {
    add(child, 0, Outcome::crashed);
    close(child);
  }
  EXPECT_EQ(paper_.ask()->parent, 0);
  EXPECT_EQ(ours_.ask()->parent, 0);
}

TEST_F(MctsTest, OursGivesUpNoBranchInWhichSomethingPassed) {
  add(0, no_node, Outcome::passed, 1);
  add(1, 0, Outcome::incorrect);
  add(2, 1, Outcome::incorrect);
  add(3, 2, Outcome::passed, 4);
  add(4, 1, Outcome::crashed);
  add(5, 1, Outcome::crashed);
  close(0);
  EXPECT_FALSE(paper_.ask());
  EXPECT_EQ(ours_.ask()->parent, 3);
}

TEST_F(MctsTest, ALateSuccessRevivesADeadEnd) {
  add(0, no_node, Outcome::passed, 1);
  add(1, 0, Outcome::incorrect);
  close(0);
  paper_.begin(9, 1);
  add(2, 1, Outcome::incorrect);
  add(3, 1, Outcome::crashed);
  add(4, 1, Outcome::crashed);
  EXPECT_FALSE(paper_.ask());
  paper_.tell({.node = 9, .outcome = Outcome::passed, .speedup = 2});
  EXPECT_EQ(paper_.ask()->parent, 9);
}

TEST_F(MctsTest, WhatIsNotEligibleEarnsNoMoreThanItsParent) {
  add(0, no_node, Outcome::passed, 1);
  add(1, 0, Outcome::passed, 2);
  add(2, 1, Outcome::passed, 50, false);
  for (const Search* search : {static_cast<Search*>(&paper_), static_cast<Search*>(&ours_)}) {
    EXPECT_THAT(search->explain(2), Contains(HasSubstr("best reward 0.69")));
    EXPECT_THAT(search->explain(0), Contains(HasSubstr("3 visits, 3 of them passed; best reward "
                                                       "0.69")));
  }
}

TEST_F(MctsTest, OursLearnsNothingOfAParentFromAChildThatFailed) {
  add(0, no_node, Outcome::passed, 1);
  add(1, 0, Outcome::passed, 2);
  add(2, 1, Outcome::crashed);
  EXPECT_THAT(ours_.explain(1), Contains(HasSubstr("2 visits, 1 of them passed; best reward 0.69, "
                                                   "mean 0.69")));
  EXPECT_THAT(paper_.explain(1), Contains(HasSubstr("mean -0.65")));
}

TEST_F(MctsTest, OursSpreadsWhatIsInFlight) {
  add(0, no_node, Outcome::passed, 1);
  add(1, 0, Outcome::passed, 2);
  add(2, 0, Outcome::passed, 1.95);
  std::set<NodeId> parents;
  for (NodeId child = 3; child <= 10; ++child) {
    const NodeId parent = ours_.ask().value().parent;
    parents.insert(parent);
    ours_.begin(child, parent);
  }
  EXPECT_GT(parents.size(), 1U);
}

TEST_F(MctsTest, OursFollowsAGainAtOnce) {
  add(0, no_node, Outcome::passed, 1);
  add(1, 0, Outcome::passed, 1.01);
  add(2, 0, Outcome::passed, 1.8);
  EXPECT_EQ(ours_.ask()->parent, 2);
  add(3, 2, Outcome::passed, 2.9);
  EXPECT_EQ(ours_.ask()->parent, 3);
  add(4, 3, Outcome::build_failed);
  EXPECT_EQ(ours_.ask()->parent, 3);
}

Branch branch_of(double best, int visits) {
  Branch branch;
  branch.reward = best;
  branch.best = best;
  branch.total = best;
  branch.rewarded = 1;
  branch.visits = visits;
  return branch;
}

TEST(DefaultRulesTest, GoWideEarlyAndDeepLate) {
  const auto rules = default_rules();
  const Branch parent = branch_of(1, 40);
  const Branch good = branch_of(1, 30);
  const Branch seldom = branch_of(0.7, 3);
  Progress progress;
  progress.spread = 0.3;
  progress.left = 1;
  EXPECT_GT(rules->child(parent, seldom, progress).total(),
            rules->child(parent, good, progress).total());
  progress.left = 0;
  EXPECT_LT(rules->child(parent, seldom, progress).total(),
            rules->child(parent, good, progress).total());
}

TEST(DefaultRulesTest, LookElsewhereWhenNothingMoves) {
  const auto rules = default_rules();
  const Branch parent = branch_of(1, 40);
  const Branch seldom = branch_of(0.2, 3);
  Progress progress;
  progress.spread = 0.3;
  const double before = rules->child(parent, seldom, progress).exploration;
  progress.since_best = 10;
  EXPECT_GT(rules->child(parent, seldom, progress).exploration, 3 * before);
}

TEST(DefaultRulesTest, ADiagnosisCountsUntilChildrenSayMore) {
  const auto rules = default_rules();
  Branch node = branch_of(1, 4);
  const Progress progress;
  const double plain = rules->next_child(node, progress).value;
  node.outlook = 1;
  const double promising = rules->next_child(node, progress).value;
  EXPECT_GT(promising, plain);
  node.children = 8;
  EXPECT_LT(rules->next_child(node, progress).value, promising);
  node.outlook = 0;
  node.children = 0;
  node.other_kind = true;
  EXPECT_GT(rules->next_child(node, progress).value, plain) << "something else holds it up";
}

TEST(DefaultRulesTest, CountWhatIsGainedBeyondNoise) {
  EXPECT_DOUBLE_EQ(default_rules()->net(0.5, 0.1), 0.4);
  EXPECT_DOUBLE_EQ(paper_rules()->net(0.5, 0.1), 0.5) << "stays as published";
  Mcts search(default_rules());
  search.begin(root_node, no_node);
  search.tell({.node = root_node, .outcome = Outcome::passed, .speedup = 1});
  search.begin(1, root_node);
  search.tell({.node = 1, .outcome = Outcome::passed, .speedup = 2, .noise = 1});
  search.begin(2, root_node);
  search.tell({.node = 2, .outcome = Outcome::passed, .speedup = 1.8});
  search.close(root_node, "nothing is left");
  EXPECT_EQ(search.ask(0).value().parent, 2);
}

}  // namespace
}  // namespace kernelpro
