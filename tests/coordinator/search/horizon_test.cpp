#include "coordinator/search/horizon.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class HorizonTest : public ::testing::Test {
 protected:
  HorizonTest() { add(passed(root_node, 1), no_node); }

  static SearchResult passed(NodeId node, double speedup, int kind = 1) {
    return {.node = node, .outcome = Outcome::passed, .speedup = speedup, .kind = kind};
  }
  static SearchResult failed(NodeId node) { return {.node = node, .outcome = Outcome::incorrect}; }
  void add(const SearchResult& result, NodeId parent) {
    search_.begin(result.node, parent);
    search_.tell(result);
  }
  [[nodiscard]] NodeId asked(std::int64_t left) {
    const std::optional<Choice> choice = search_.ask(left);
    return choice ? choice->parent : no_node;
  }

  Horizon search_;
};

TEST_F(HorizonTest, ASlowNodeThatStillGainsComesFirstWhileMuchIsLeft) {
  add(passed(1, 1.3), root_node);
  EXPECT_EQ(asked(200), root_node);
  EXPECT_EQ(asked(0), 1);
}

TEST_F(HorizonTest, ALargeGainLetsMoreBeExpectedOfItsParentToo) {
  add(passed(1, 20), root_node);
  EXPECT_EQ(asked(200), root_node);
  EXPECT_EQ(asked(0), 1);
}

TEST_F(HorizonTest, TriesWithoutAGainSendItElsewhere) {
  add(passed(1, 1.5), root_node);
  ASSERT_EQ(asked(0), 1);
  for (NodeId child = 2; child < 12; ++child) {
    add(passed(child, 1.2), 1);
  }
  EXPECT_EQ(asked(0), root_node);
}

TEST_F(HorizonTest, OfTwoAlikeTheOneWhoseDiagnosisForeseesMoreComesFirst) {
  SearchResult dull = passed(1, 2);
  dull.outlook = 0.05;
  SearchResult promising = passed(2, 2);
  promising.outlook = 0.5;
  add(dull, root_node);
  add(promising, root_node);
  search_.close(root_node, "nothing is left");
  EXPECT_EQ(asked(20), 2);
}

TEST_F(HorizonTest, WhereSomethingElseHoldsANodeUpAsMuchIsExpectedAsAtTheRoot) {
  add(passed(1, 2, 1), root_node);
  add(passed(2, 2, 2), root_node);
  search_.close(root_node, "nothing is left");
  EXPECT_EQ(asked(20), 2);
}

TEST_F(HorizonTest, LittleIsExpectedUnderANodeThatGaveLess) {
  add(passed(1, 3), root_node);
  add(passed(2, 2.9), root_node);
  for (NodeId child = 3; child < 13; ++child) {
    add(passed(child, 2.5), 1);
  }
  add(passed(13, 3), 1);
  search_.close(root_node, "nothing is left");
  search_.close(1, "nothing is left");
  EXPECT_EQ(asked(60), 2) << "node 13 is no slower, and comes of a node that gave nothing";
}

TEST_F(HorizonTest, CountsWhatIsGainedBeyondNoise) {
  SearchResult noisy = passed(1, 2);
  noisy.noise = 0.5;
  add(noisy, root_node);
  add(passed(2, 1.8), root_node);
  search_.close(root_node, "nothing is left");
  EXPECT_EQ(asked(5), 2);
}

TEST_F(HorizonTest, WhatMayNeverBeTheBestDrawsItNoMoreThanItsParent) {
  SearchResult rough = passed(1, 50);
  rough.eligible = false;
  add(rough, root_node);
  add(passed(2, 1.2), root_node);
  EXPECT_EQ(asked(0), 2);
}

TEST_F(HorizonTest, AFailureIsRepairedWhenItsParentHasNothingElse) {
  add(failed(1), root_node);
  EXPECT_EQ(asked(20), root_node);
  search_.close(root_node, "nothing is left");
  EXPECT_EQ(asked(20), 1);
}

TEST_F(HorizonTest, TheOldestFailureIsRepairedFirst) {
  add(failed(1), root_node);
  add(failed(2), root_node);
  search_.close(root_node, "nothing is left");
  EXPECT_EQ(asked(20), 1);
  EXPECT_THAT(search_.ask(20)->reasons,
              Contains(HasSubstr("nothing is left there but to repair node 1 (incorrect)")));
  search_.begin(3, 1);
  EXPECT_EQ(asked(20), 2) << "no repair is made twice";
}

TEST_F(HorizonTest, ARepairThatPassesIsATryOfTheProgramThatWasToBeImproved) {
  add(failed(1), root_node);
  add(passed(2, 1.5), 1);
  EXPECT_THAT(search_.explain(root_node),
              Contains(HasSubstr("1 tries passed and gained 0.405 together")));
}

TEST_F(HorizonTest, ARepairThatWasNotJudgedIsOfferedAgain) {
  add(failed(1), root_node);
  search_.close(root_node, "nothing is left");
  search_.begin(2, 1);
  search_.tell({.node = 2, .outcome = Outcome::not_judged});
  EXPECT_EQ(asked(20), 1);
}

TEST_F(HorizonTest, SeveralInFlightGoToSeveralPlaces) {
  add(passed(1, 2), root_node);
  add(passed(2, 1.95), root_node);
  search_.close(root_node, "nothing is left");
  NodeId next = 3;
  while (asked(20) == 1 && next < 20) {
    search_.begin(next++, 1);
  }
  EXPECT_EQ(asked(20), 2);
}

TEST_F(HorizonTest, WithoutADiagnosisASlowNodePromisesLess) {
  Horizon blind;
  blind.begin(root_node, no_node);
  blind.tell(passed(root_node, 1, 0));
  blind.begin(1, root_node);
  blind.tell(passed(1, 1.3, 0));
  EXPECT_EQ(blind.ask(20)->parent, 1);
  add(passed(1, 1.3), root_node);
  EXPECT_EQ(asked(20), root_node);
}

}  // namespace
}  // namespace kernelpro
