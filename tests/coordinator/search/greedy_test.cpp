#include "coordinator/search/greedy.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

using ::testing::ElementsAre;

class GreedyTest : public ::testing::Test {
 protected:
  void add(NodeId child, NodeId parent, Outcome outcome, double speedup = 0, bool eligible = true) {
    search_.begin(child, parent);
    search_.tell({.node = child, .outcome = outcome, .speedup = speedup, .eligible = eligible});
  }
  [[nodiscard]] NodeId asked() { return search_.ask().value().parent; }

  Greedy search_;
};

TEST_F(GreedyTest, ExpandsTheBestThereIs) {
  add(0, no_node, Outcome::passed, 1);
  add(1, 0, Outcome::passed, 3);
  add(2, 1, Outcome::passed, 2);
  add(3, 1, Outcome::crashed);
  EXPECT_EQ(asked(), 1);
  EXPECT_THAT(search_.ask()->reasons, ElementsAre("node 1 (3.00x) is the best of 4 open nodes"));
}

TEST_F(GreedyTest, OfEqualsTheOlderComesFirst) {
  add(0, no_node, Outcome::passed, 1);
  add(1, 0, Outcome::passed, 3);
  add(2, 0, Outcome::passed, 3);
  EXPECT_EQ(asked(), 1);
}

TEST_F(GreedyTest, GoesToTheNextBestWhenTheBestIsClosed) {
  add(0, no_node, Outcome::passed, 1);
  add(1, 0, Outcome::passed, 3);
  add(2, 1, Outcome::passed, 2);
  search_.close(1, "no move applies");
  EXPECT_EQ(asked(), 2);
  EXPECT_THAT(search_.ask()->reasons,
              ElementsAre("node 2 (2.00x) is the best of 2 open nodes; the best of all, node 1 "
                          "(3.00x), is closed"));
}

TEST_F(GreedyTest, WithNoSuccessRepairsTheFailureNearestToPassing) {
  add(0, no_node, Outcome::build_failed);
  add(1, 0, Outcome::build_failed);
  add(2, 0, Outcome::cheated);
  EXPECT_EQ(asked(), 0);
  add(3, 0, Outcome::timed_out);
  EXPECT_EQ(asked(), 3);
  add(4, 0, Outcome::incorrect);
  EXPECT_EQ(asked(), 4);
  add(5, 0, Outcome::passed, 0.2);
  EXPECT_EQ(asked(), 5);
}

TEST_F(GreedyTest, WhatIsNotEligibleComesAfterAllThatIs) {
  add(0, no_node, Outcome::passed, 1);
  add(1, 0, Outcome::passed, 9, false);
  add(2, 0, Outcome::incorrect);
  EXPECT_EQ(asked(), 0);
  search_.close(0, "no move applies");
  EXPECT_EQ(asked(), 1);
  search_.close(1, "no move applies");
  EXPECT_EQ(asked(), 2);
}

}  // namespace
}  // namespace kernelpro
