#include "coordinator/search/random_search.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>

namespace kernelpro {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

void add(Search& search, NodeId child, NodeId parent, Outcome outcome) {
  search.begin(child, parent);
  search.tell({.node = child, .outcome = outcome, .speedup = 2});
}

TEST(RandomSearchTest, DrawsEveryOpenNodeThatPassedAboutEquallyOften) {
  std::map<NodeId, int> drawn;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    RandomSearch search(seed);
    add(search, 0, no_node, Outcome::passed);
    add(search, 1, 0, Outcome::passed);
    add(search, 2, 0, Outcome::incorrect);
    add(search, 3, 1, Outcome::passed);
    add(search, 4, 1, Outcome::passed);
    search.close(1, "no move applies");
    ++drawn[search.ask().value().parent];
  }
  EXPECT_EQ(drawn.size(), 3U);
  for (const NodeId node : {0, 3, 4}) {
    EXPECT_NEAR(drawn[node], 1000, 130) << node;  // five standard deviations
  }
}

TEST(RandomSearchTest, EveryBeginDrawsAnew) {
  RandomSearch search(3);
  add(search, 0, no_node, Outcome::passed);
  std::set<NodeId> parents;
  for (NodeId child = 1; child <= 5; ++child) {
    add(search, child, 0, Outcome::passed);
  }
  for (NodeId child = 6; child <= 60; ++child) {
    search.begin(child, 0);
    parents.insert(search.ask().value().parent);
  }
  EXPECT_THAT(parents, ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(RandomSearchTest, SaysWhatItDrewFrom) {
  RandomSearch search(3);
  add(search, 0, no_node, Outcome::passed);
  EXPECT_THAT(search.ask()->reasons, ElementsAre("node 0 (2.00x) was drawn from 1 open node"));
}

TEST(RandomSearchTest, SaysWhyAFailureIsNotExpanded) {
  RandomSearch search(3);
  add(search, 0, no_node, Outcome::passed);
  add(search, 1, 0, Outcome::crashed);
  EXPECT_THAT(search.explain(1), Contains("the node is closed: it failed, and this search expands "
                                          "only what passed, and the root"));
}

}  // namespace
}  // namespace kernelpro
