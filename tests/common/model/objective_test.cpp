#include "common/model/objective.hpp"

#include <gmock/gmock.h>

#include "common/model/energy.hpp"

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Against a baseline whose every figure is 1.
Finalist finalist(std::int64_t node, double speedup, double energy, double spread = 0.01) {
  Finalist out;
  out.node = node;
  out.speedup = speedup;
  out.speedup_interval = {speedup * (1 - spread), speedup * (1 + spread)};
  out.faster = out.speedup_interval.low > 1.005;
  out.energy_ratio = energy;
  out.energy_interval = {energy * (1 - spread), energy * (1 + spread)};
  return out;
}

std::vector<std::int64_t> order(const std::vector<Finalist>& finalists) {
  std::vector<std::int64_t> out;
  for (const Finalist& one : finalists) {
    out.push_back(one.node);
  }
  return out;
}

// The fastest takes the most energy; the second is as fast within the noise; the third is clearly
// slower and takes the least.
std::vector<Finalist> three() {
  return {finalist(1, 2.00, 0.80), finalist(2, 1.99, 0.60), finalist(3, 1.85, 0.58)};
}

TEST(Objective, NamesAreReadBack) {
  for (const Objective one :
       {Objective::time, Objective::energy, Objective::time_then_energy, Objective::edp}) {
    EXPECT_EQ(parse_objective(name_of(one)), one);
  }
  EXPECT_EQ(parse_objective("time_then_energy"), std::nullopt);
  EXPECT_EQ(parse_objective(""), std::nullopt);
  EXPECT_FALSE(needs_energy(Objective::time));
  EXPECT_TRUE(needs_energy(Objective::edp));
}

TEST(Ranking, EachObjectiveOrdersByItsOwnFigure) {
  EXPECT_THAT(order(rank_finalists(three(), Objective::time)), ElementsAre(1, 2, 3));
  EXPECT_THAT(order(rank_finalists(three(), Objective::energy)), ElementsAre(3, 2, 1));
  // 0.80/2.00 = 0.400, 0.60/1.99 = 0.302, 0.58/1.85 = 0.314
  EXPECT_THAT(order(rank_finalists(three(), Objective::edp)), ElementsAre(2, 3, 1));
}

TEST(Ranking, MatchedSpeedMeansThatTheIntervalsOverlapWithTheFastest) {
  const std::vector<Finalist> ranked = rank_finalists(three(), Objective::time_then_energy);
  EXPECT_THAT(order(ranked), ElementsAre(2, 1, 3));
  EXPECT_TRUE(ranked[0].matched_speed);
  EXPECT_TRUE(ranked[1].matched_speed);
  EXPECT_FALSE(ranked[2].matched_speed);
  // Wider intervals: the third is now as fast as the fastest, as far as anybody can tell.
  const std::vector<Finalist> wide = {finalist(1, 2.00, 0.80, 0.05), finalist(3, 1.85, 0.58, 0.05)};
  EXPECT_THAT(order(rank_finalists(wide, Objective::time_then_energy)), ElementsAre(3, 1));
}

TEST(Ranking, IntervalsThatTouchOverlap) {
  Finalist fast = finalist(1, 2.0, 0.9);
  fast.speedup_interval = {1.9, 2.1};
  Finalist slow = finalist(2, 1.8, 0.5);
  slow.speedup_interval = {1.7, 1.9};
  EXPECT_THAT(order(rank_finalists({fast, slow}, Objective::time_then_energy)), ElementsAre(2, 1));
  slow.speedup_interval.high = 1.8999;
  EXPECT_THAT(order(rank_finalists({fast, slow}, Objective::time_then_energy)), ElementsAre(1, 2));
}

TEST(Ranking, OnlyWhatClearsTheNoiseHoldsAgainstTheBaseline) {
  const auto holds = [](const Finalist& one, Objective objective) {
    return rank_finalists({one}, objective).front().holds;
  };
  EXPECT_TRUE(holds(finalist(1, 0.95, 0.90), Objective::energy));
  EXPECT_FALSE(holds(finalist(1, 2.00, 0.98), Objective::energy)) << "within the floor of 2 %";
  EXPECT_FALSE(holds(finalist(1, 2.00, 1.10), Objective::energy));
  EXPECT_TRUE(holds(finalist(1, 2.00, 1.10), Objective::edp));
  EXPECT_FALSE(holds(finalist(1, 1.00, 0.99), Objective::edp));
  EXPECT_TRUE(holds(finalist(1, 2.00, 1.10), Objective::time_then_energy));
  EXPECT_FALSE(holds(finalist(1, 1.00, 0.50), Objective::time_then_energy)) << "no faster";
}

TEST(Ranking, NothingAndNonsenseAreNoTrouble) {
  EXPECT_THAT(rank_finalists({}, Objective::energy), IsEmpty());
  EXPECT_FALSE(rank_finalists({Finalist{}}, Objective::edp).front().holds);
  EXPECT_EQ(edp_ratio(Finalist{}), 0);
}

TEST(Energy, ADifferenceMustClearTheFloor) {
  EXPECT_EQ(compare_energy({0.90, 0.97}), EnergyComparison::less);
  EXPECT_EQ(compare_energy({0.90, 0.99}), EnergyComparison::same);
  EXPECT_EQ(compare_energy({0.99, 1.10}), EnergyComparison::same);
  EXPECT_EQ(compare_energy({1.03, 1.10}), EnergyComparison::more);
}

}  // namespace
}  // namespace kernelpro
