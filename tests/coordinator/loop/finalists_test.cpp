#include "coordinator/loop/finalists.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Node passed(NodeId id, double speedup) {
  Node node;
  node.id = id;
  node.state = NodeState::judged;
  node.outcome = Outcome::passed;
  node.speedup = speedup;
  return node;
}

RunSettings looking_for(Objective objective) {
  RunSettings settings;
  settings.objective = objective;
  return settings;
}

TEST(Finalists, AreTheFastestWithinTenPercent) {
  const std::vector<Node> nodes = {passed(0, 1),    passed(1, 1.79), passed(2, 1.95),
                                   passed(3, 1.81), passed(4, 2),    passed(5, 1.9)};
  EXPECT_THAT(choose_finalists(nodes, looking_for(Objective::time_then_energy)),
              ElementsAre(4, 2, 5));
  EXPECT_THAT(choose_finalists(nodes, looking_for(Objective::energy)), ElementsAre(4, 2, 5, 3));
  EXPECT_THAT(choose_finalists(nodes, looking_for(Objective::edp)), ElementsAre(4, 2, 5, 3));
}

TEST(Finalists, AreOnlyWhatMayBeTheBest) {
  std::vector<Node> nodes = {passed(0, 1), passed(1, 2), passed(2, 2), passed(3, 2), passed(4, 2)};
  nodes[1].suspect = true;
  nodes[2].screened = true;
  nodes[3].outcome = Outcome::incorrect;
  nodes[4].precision = "bf16";
  EXPECT_THAT(choose_finalists(nodes, looking_for(Objective::energy)), IsEmpty());
  RunSettings lenient = looking_for(Objective::energy);
  lenient.accept_suspect = true;
  lenient.allow_precision = {"bf16"};
  EXPECT_THAT(choose_finalists(nodes, lenient), ElementsAre(1, 4));
}

TEST(Finalists, MayBeSlowerThanTheBaselineButNotByMuch) {
  const std::vector<Node> nodes = {passed(0, 1), passed(1, 0.95), passed(2, 0.89)};
  EXPECT_THAT(choose_finalists(nodes, looking_for(Objective::energy)), ElementsAre(1));
  EXPECT_THAT(choose_finalists({}, looking_for(Objective::energy)), IsEmpty());
}

TEST(Finalists, CarryWhatTheVerdictSays) {
  Verdict verdict;
  verdict.timing.speedup = 1.5;
  verdict.timing.speedup_interval = {1.4, 1.6};
  verdict.timing.comparison = Comparison::faster;
  Energy& energy = verdict.energy.emplace();
  energy.ratio = 0.75;
  energy.ratio_interval = {0.7, 0.8};
  energy.shapes.resize(2);
  energy.shapes[0].candidate.joules = 0.25;
  const Finalist one = finalist_of(7, verdict);
  EXPECT_EQ(one.node, 7);
  EXPECT_EQ(one.speedup, 1.5);
  EXPECT_EQ(one.speedup_interval.high, 1.6);
  EXPECT_TRUE(one.faster);
  EXPECT_EQ(one.energy_ratio, 0.75);
  EXPECT_EQ(one.energy_interval.low, 0.7);
  EXPECT_EQ(one.joules, 0.25);
}

}  // namespace
}  // namespace kernelpro
