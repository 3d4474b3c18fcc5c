// Ways to search against each other, at equal numbers of evaluations, on landscapes we understand.
#include <gtest/gtest.h>

#include "coordinator/search/simulate.hpp"

namespace kernelpro::landscape {
namespace {

// Constants were chosen on other seeds than these.
constexpr std::uint64_t first_seed = 1;
constexpr int seeds = 60;

double result(const Player& player, const std::string& family) {
  return mean_result(player, family, first_seed, seeds);
}

// Whose constants were chosen here; `kernelpro simulate` says what the default is worth.
const Player ours = {"mcts", "steady"};
const Player paper = {"mcts", "paper"};
const Player greedy = {"greedy", "default"};
const Player random_player = {"random", "default"};

class FamilyTest : public ::testing::TestWithParam<std::string> {};

TEST_P(FamilyTest, SteadyBeatsPaperAndRandomAndIsWithinATenthOfGreedy) {
  const double of_ours = result(ours, GetParam());
  EXPECT_GE(of_ours, result(paper, GetParam()));
  EXPECT_GE(of_ours, result(random_player, GetParam()));
  // Where every step pays at once, going for the best is hard to beat.
  EXPECT_GE(of_ours, result(greedy, GetParam()) - 0.1);
}

INSTANTIATE_TEST_SUITE_P(Families, FamilyTest, ::testing::ValuesIn(families()),
                         [](const ::testing::TestParamInfo<std::string>& family) {
                           return family.param;
                         });

TEST(SimulationTest, SteadyBeatsGreedyOverAllFamilies) {
  double of_ours = 0;
  double of_greedy = 0;
  for (const std::string& family : families()) {
    of_ours += result(ours, family);
    of_greedy += result(greedy, family);
  }
  EXPECT_GT(of_ours, of_greedy);
}

TEST(SimulationTest, TheSameSeedGivesTheSameResult) {
  for (const std::string& family : families()) {
    const double once = mean_result(random_player, family, 5, 2);
    EXPECT_EQ(once, mean_result(random_player, family, 5, 2)) << family;
    EXPECT_NE(once, mean_result(random_player, family, 8, 2)) << family;
  }
}

}  // namespace
}  // namespace kernelpro::landscape
