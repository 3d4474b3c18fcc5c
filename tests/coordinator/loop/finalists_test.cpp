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
  node.speedup_interval = {0.99 * speedup, 1.01 * speedup};
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
  EXPECT_THAT(choose_finalists(nodes, looking_for(Objective::time_then_energy), 1),
              ElementsAre(4, 2, 5));
  EXPECT_THAT(choose_finalists(nodes, looking_for(Objective::energy), 1), ElementsAre(4, 2, 5, 3));
  EXPECT_THAT(choose_finalists(nodes, looking_for(Objective::edp), 1), ElementsAre(4, 2, 5, 3));
}

TEST(Finalists, AreOnlyWhatMayBeTheBestOrTurnOutClean) {
  std::vector<Node> nodes = {passed(0, 1), passed(1, 2), passed(2, 2), passed(3, 2), passed(4, 2)};
  nodes[1].suspect = true;
  nodes[2].screened = true;
  nodes[3].outcome = Outcome::incorrect;
  nodes[4].precision = "bf16";
  EXPECT_THAT(choose_finalists(nodes, looking_for(Objective::energy), 1), ElementsAre(1));
  RunSettings lenient = looking_for(Objective::energy);
  lenient.accept_suspect = true;
  lenient.allow_precision = {"bf16"};
  EXPECT_THAT(choose_finalists(nodes, lenient, 1), ElementsAre(1, 4));
}

TEST(Finalists, MayBeSlowerThanTheBaselineButNotByMuch) {
  const std::vector<Node> nodes = {passed(0, 1), passed(1, 0.95), passed(2, 0.89)};
  EXPECT_THAT(choose_finalists(nodes, looking_for(Objective::energy), 1), ElementsAre(1));
  EXPECT_THAT(choose_finalists({}, looking_for(Objective::energy), 1), IsEmpty());
}

TEST(Finalists, ByTimeReadFasterThanTheBaseline) {
  std::vector<Node> nodes = {passed(0, 1), passed(1, 1.005), passed(2, 1.05)};
  EXPECT_THAT(choose_finalists(nodes, looking_for(Objective::time), 1), ElementsAre(2));
  nodes[2].speedup_interval = {0.9, 1.2};
  EXPECT_THAT(choose_finalists(nodes, looking_for(Objective::time), 1), IsEmpty());
}

TEST(Finalists, AreChosenByWhatTheySeemToBeWithoutOtherPrograms) {
  std::vector<Node> nodes = {passed(0, 1), passed(1, 1.1), passed(2, 0.6), passed(3, 0.5)};
  nodes[2].likely = 3;
  nodes[3].likely = 0.9;
  EXPECT_THAT(choose_finalists(nodes, looking_for(Objective::time), 1), ElementsAre(2));
}

TEST(Finalists, AFewSuspectsJoinThemOnceInAPhase) {
  std::vector<Node> nodes = {passed(0, 1), passed(1, 2),    passed(2, 40),   passed(3, 30),
                             passed(4, 5), passed(5, 2.5),  passed(6, 1.5),  passed(7, 1.9),
                             passed(8, 2), passed(9, 1.95), passed(10, 1.85)};
  for (const std::size_t id : {2U, 3U, 4U, 5U, 6U}) {
    nodes[id].suspect = true;
  }
  const RunSettings settings = looking_for(Objective::time);
  EXPECT_THAT(choose_finalists(nodes, settings, 1), ElementsAre(2, 3, 4, 1, 8, 9, 7))
      << "three suspects and four others, the fastest first";
  nodes[2].final_phase = 1;
  nodes[1].final_phase = 1;
  EXPECT_THAT(choose_finalists(nodes, settings, 1), ElementsAre(8, 9, 7, 10))
      << "measured already in this phase";
  EXPECT_THAT(choose_finalists(nodes, settings, 2), ElementsAre(2, 3, 4, 1, 8, 9, 7))
      << "another phase begins";
}

TEST(Finalists, ACleanTimingGivesWayToACleanOneAndToAFailureOnly) {
  const RunSettings settings = looking_for(Objective::time);
  Node clean = passed(1, 2);
  Node doubtful = clean;
  doubtful.suspect = true;
  Verdict fresh;
  fresh.outcome = Outcome::passed;
  EXPECT_FALSE(keeps_its_figures(clean, fresh, settings));
  EXPECT_FALSE(keeps_its_figures(doubtful, fresh, settings));
  fresh.suspect = true;
  EXPECT_TRUE(keeps_its_figures(clean, fresh, settings));
  EXPECT_FALSE(keeps_its_figures(doubtful, fresh, settings)) << "the newer doubt counts";
  fresh.outcome = Outcome::incorrect;
  EXPECT_FALSE(keeps_its_figures(clean, fresh, settings));
  fresh.outcome = Outcome::not_judged;
  EXPECT_TRUE(keeps_its_figures(clean, fresh, settings));
  EXPECT_TRUE(keeps_its_figures(doubtful, fresh, settings));
}

TEST(Finalists, TheBetterOneHasTheHigherLowerEnd) {
  Node steady = passed(1, 2);
  Node wild = passed(2, 2.4);
  wild.speedup_interval = {1.5, 3};
  EXPECT_TRUE(is_better_finalist(steady, wild));
  EXPECT_FALSE(is_better_finalist(wild, steady));
  EXPECT_TRUE(is_better_finalist(steady, passed(3, 2))) << "of equals the older";
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
