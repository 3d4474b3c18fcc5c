#include "coordinator/simulate/simulate.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "coordinator/simulate/play.hpp"
#include "coordinator/simulate/significance.hpp"
#include "coordinator/simulate/small.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;

const std::vector<std::string> players = {"tuner", "greedy", "mcts",   "mcts:paper",
                                          "beam",  "elites", "random", "uniform"};

std::vector<double> curve_of(const std::string& player, std::uint64_t seed,
                             const Landscape& landscape, int in_flight = 1, int evaluations = 60) {
  return play({player, seed, evaluations, in_flight}, landscape, Scores(landscape));
}

TEST(ReplayTest, ScoresByOtherRoundsThanSearchesSee) {
  std::vector<RecordedAt> programs;
  programs.push_back({{0}, {Outcome::passed, {1, 4, 1, 4}}});  // looks fast, is slow
  programs.push_back({{1}, {Outcome::passed, {3, 2, 3, 2}}});
  programs.push_back({{2}, {Outcome::passed, {8}}});
  programs.push_back({{3}, {Outcome::crashed, {}}});
  const Landscape landscape = make_landscape("four", small_parameters(1, 4), programs).value();
  const Scores scores(landscape);
  EXPECT_EQ(scores.share(0), 0.5);
  EXPECT_EQ(scores.share(1), 1);
  EXPECT_EQ(scores.share(2), 0.25);
  EXPECT_EQ(scores.share(3), 0);
  EXPECT_EQ(scores.draws_to_95(), 2.5);
  const ReplayJudge judge(landscape, 1);
  EXPECT_EQ(judge.time(0), 1);
  EXPECT_EQ(judge.time(2), 8);
  EXPECT_EQ(judge.time(3), std::nullopt);
  // Who sees 1 takes the slow one for the best.
  EXPECT_EQ(curve_of("uniform", 1, landscape).back(), 0.5);
}

TEST(PlayTest, EverySearchGetsToTheTopOfASmallLandscapeAndRepeatsItself) {
  const Landscape landscape = bowl("bowl");
  for (const std::string& player : players) {
    const std::vector<double> curve = curve_of(player, 3, landscape, 1, 216);
    EXPECT_EQ(curve, curve_of(player, 3, landscape, 1, 216)) << player;
    EXPECT_NE(curve, curve_of(player, 4, landscape, 1, 216)) << player;
    EXPECT_THAT(curve, Each(AllOf(Ge(0), Le(1)))) << player;
    EXPECT_GT(curve.back(), 0.98) << player;
  }
}

TEST(PlayTest, EndsWhereNothingIsLeft) {
  const Landscape landscape = bowl("bowl", 2, 4);
  EXPECT_EQ(curve_of("uniform", 1, landscape, 1, 1000).size(), 16U);
  EXPECT_EQ(curve_of("tuner", 1, landscape, 3, 1000).size(), 16U);
  EXPECT_LE(curve_of("greedy", 1, landscape, 1, 1000).size(), 16U);
}

TEST(PlayTest, SeveralInFlightAreAsManyEvaluations) {
  const Landscape landscape = bowl("bowl", 4, 6);
  for (const std::string& player : players) {
    for (const int in_flight : {1, 8}) {
      const std::vector<double> curve = curve_of(player, 2, landscape, in_flight);
      EXPECT_EQ(curve.size(), 60U) << player << " " << in_flight;
      EXPECT_GT(curve.back(), 0) << player;
    }
  }
}

TEST(SignificanceTest, ChanceIsNoDifferenceAndADifferenceIsNoChance) {
  std::vector<double> one;
  std::vector<double> same;
  std::vector<double> better;
  Random random(5);
  for (int i = 0; i < 30; ++i) {
    one.push_back(random.unit());
    same.push_back(random.unit());
    better.push_back(random.unit() + 1);
  }
  EXPECT_GT(permutation_p(one, same, 1), 0.05);
  EXPECT_EQ(permutation_p(one, better, 1), 1e-4);
  EXPECT_EQ(permutation_p(one, one, 1), 1);
  EXPECT_EQ(permutation_p({}, one, 1), 1);
}

TEST(SignificanceTest, HolmStepsDown) {
  const std::vector<double> corrected = holm({0.01, 0.04, 0.03, 0.9});
  EXPECT_THAT(corrected, ElementsAre(DoubleNear(0.04, 1e-12), DoubleNear(0.09, 1e-12),
                                     DoubleNear(0.09, 1e-12), DoubleNear(0.9, 1e-12)));
}

SimulateSettings small_settings() {
  SimulateSettings settings;
  settings.searches = {"greedy", "uniform"};
  settings.seeds = 8;
  settings.budgets = {10, 40};
  return settings;
}

TEST(SimulateTest, ComparesSearchesLandscapeByLandscape) {
  const Simulation done =
      simulate(small_settings(), {bowl("hard", 5, 5), bowl("easy", 1, 6)}, {}).value();
  ASSERT_EQ(done.landscapes.size(), 2U);
  EXPECT_TRUE(done.landscapes[0].counted);
  EXPECT_FALSE(done.landscapes[1].counted);
  const Fared& greedy = done.landscapes[0].searches[0];
  EXPECT_EQ(greedy.curve.size(), 40U);
  EXPECT_EQ(greedy.shares[1], greedy.curve[39]);
  EXPECT_EQ(greedy.shares[0], greedy.curve[9]) << "it does not look at its budget";
  EXPECT_NEAR(done.counted[0].shares[1], greedy.shares[1], 1e-12);
  EXPECT_LT(done.all[1].needed[0], done.counted[1].needed[0]);
  EXPECT_THAT(greedy.p_values, Each(1));
  EXPECT_THAT(done.landscapes[0].searches[1].p_values, Each(AllOf(Ge(0), Le(1))));
  EXPECT_THAT(simulation_text(done),
              AllOf(HasSubstr("1 counted"), HasSubstr("all 2"), HasSubstr("easy: 6 programs"),
                    HasSubstr("not counted"), HasSubstr("(unreached counts 80); 8 seeds")));
  EXPECT_THAT(simulation_svg(done),
              AllOf(HasSubstr("<svg xmlns="), HasSubstr("polyline"), HasSubstr("uniform")));
}

TEST(SimulateTest, BadSettingsAreRefused) {
  const auto error = [](const SimulateSettings& settings, bool empty = false) {
    std::vector<AnyLandscape> landscapes;
    if (!empty) {
      landscapes.push_back(bowl("bowl"));
    }
    const Result<Simulation> done = simulate(settings, landscapes, {});
    return done ? "" : done.error().text();
  };
  SimulateSettings settings = small_settings();
  EXPECT_THAT(error(settings, true), HasSubstr("nothing to simulate"));
  settings.searches = {"gredy"};
  EXPECT_THAT(error(settings), AllOf(HasSubstr("no search \"gredy\""), HasSubstr("\"tuner\"")));
  settings.searches = {"mcts:papr"};
  EXPECT_THAT(error(settings), HasSubstr("no preset \"papr\""));
  settings = small_settings();
  settings.budgets = {40, 10};
  EXPECT_THAT(error(settings), HasSubstr("--budgets"));
  std::stop_source stop;
  stop.request_stop();
  const Result<Simulation> stopped = simulate(small_settings(), {bowl("bowl")}, stop.get_token());
  EXPECT_EQ(stopped.error().kind, ErrorKind::interrupted);
}

}  // namespace
}  // namespace kernelpro
