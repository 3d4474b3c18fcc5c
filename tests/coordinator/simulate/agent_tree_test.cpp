#include "coordinator/simulate/agent_tree.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "coordinator/simulate/play.hpp"

namespace kernelpro {
namespace {

using ::testing::HasSubstr;

// Many children of one program, repetitions left out.
std::vector<AgentProgram> children_of(const AgentTree& tree, AgentProgram parent) {
  std::vector<AgentProgram> all;
  while (const std::optional<AgentTree::Child> child = tree.next_child(parent)) {
    if (!child->repeats) {
      all.push_back(child->program);
    }
  }
  return all;
}

double share_of(const std::vector<AgentProgram>& all, bool (*is)(const AgentProgram&)) {
  return static_cast<double>(std::ranges::count_if(all, is)) / static_cast<double>(all.size());
}

// The first steps of many trees.
std::vector<AgentProgram> first_steps(const AgentModel& model) {
  std::vector<AgentProgram> all;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const AgentTree tree(model, seed);
    AgentProgram root = tree.root();
    all.push_back(tree.next_child(root)->program);
  }
  return all;
}

TEST(AgentTreeTest, AChildIsTheSameWhoeverAsksAndWhen) {
  const AgentTree tree({}, 7);
  AgentProgram one = tree.root();
  AgentProgram other = tree.root();
  const AgentProgram first = tree.next_child(one)->program;
  const AgentProgram second = tree.next_child(one)->program;
  EXPECT_EQ(tree.next_child(other)->program.speed, first.speed);
  EXPECT_EQ(tree.next_child(other)->program.key, second.key);
  EXPECT_NE(first.key, second.key);
  EXPECT_NE(AgentTree({}, 8).root().key, tree.root().key);
}

TEST(AgentTreeTest, HasTheSharesOfItsModel) {
  AgentModel model;
  model.deceptive = 0;
  const std::vector<AgentProgram> all = first_steps(model);
  EXPECT_NEAR(share_of(all, [](const AgentProgram& one) { return one.passed(); }), model.right,
              0.04);
  EXPECT_NEAR(share_of(all, [](const AgentProgram& one) { return one.speed > 0; }), model.pays,
              0.04);
  EXPECT_NEAR(share_of(all, [](const AgentProgram& one) { return one.mean_gain == 0; }),
              model.pays * model.dead, 0.03);
}

TEST(AgentTreeTest, DeceptiveFirstStepsGainAndLeadNowhere) {
  AgentModel model;
  model.deceptive = 1;
  for (const AgentProgram& one : first_steps(model)) {
    EXPECT_GE(one.speed, 0);
    EXPECT_LE(one.ceiling, one.speed + 0.3 * (model.headroom - one.speed) + 1e-9);
  }
}

TEST(AgentTreeTest, NothingPassesItsCeilingAndAgentsTire) {
  const AgentTree tree({}, 3);
  std::vector<AgentProgram> level = {tree.root()};
  for (int depth = 0; depth < 3; ++depth) {
    std::vector<AgentProgram> next;
    for (const AgentProgram& parent : level) {
      for (const AgentProgram& child : children_of(tree, parent)) {
        EXPECT_LE(child.speed, child.ceiling + 1e-12);
        EXPECT_LE(child.ceiling, parent.ceiling);
        next.push_back(child);
      }
    }
    ASSERT_FALSE(next.empty());
    next.resize(std::min<std::size_t>(next.size(), 20));
    level = std::move(next);
  }
}

TEST(AgentTreeTest, ARepairBringsWhatTheFailureWasToBe) {
  AgentModel model;
  model.right = 0;
  model.repair = 1;
  const AgentTree tree(model, 5);
  AgentProgram root = tree.root();
  AgentProgram failed = tree.next_child(root)->program;
  ASSERT_FALSE(failed.passed());
  const AgentProgram repaired = tree.next_child(failed)->program;
  EXPECT_TRUE(repaired.passed());
  EXPECT_EQ(repaired.speed, failed.speed);
  EXPECT_EQ(tree.share(failed), 0);
  EXPECT_NEAR(tree.share(repaired), std::exp(repaired.speed - model.headroom), 1e-12);
}

TEST(AgentTreeTest, RepairsEnd) {
  AgentModel model;
  model.right = 0;
  model.repair = 0;
  const AgentTree tree(model, 5);
  AgentProgram at = tree.root();
  int depth = 0;
  for (AgentProgram parent = at;; parent = at, ++depth) {
    const std::optional<AgentTree::Child> child = tree.next_child(parent);
    if (!child) {
      break;
    }
    at = child->program;
  }
  EXPECT_EQ(depth, 4);
}

TEST(AgentTreeTest, ForesightIsToldOrNot) {
  AgentModel model;
  model.foresight = 1;
  AgentProgram poor;
  poor.ceiling = 1;
  AgentProgram rich = poor;
  rich.key = 9;
  rich.mean_gain = model.gain;
  EXPECT_GT(AgentTree(model, 1).outlook(rich), 20 * AgentTree(model, 1).outlook(poor));
  model.foresight = 0;
  AgentProgram same = rich;
  same.mean_gain = 0;
  EXPECT_EQ(AgentTree(model, 1).outlook(rich), AgentTree(model, 1).outlook(same));
}

TEST(AgentTreeTest, TheSweepIsSplitInTwoHalves) {
  const std::vector<AgentLandscape> all = agent_landscapes();
  EXPECT_EQ(all.size(), 72U);
  EXPECT_EQ(std::ranges::count(all, true, &AgentLandscape::proof), 36);
  std::set<std::string> names;
  for (const AgentLandscape& one : all) {
    names.insert(one.name);
    EXPECT_EQ(agent_landscape_from_json(to_json(one)).value().model.dead, one.model.dead);
  }
  EXPECT_EQ(names.size(), all.size());
}

TEST(AgentTreeTest, BadModelsAreRefused) {
  const auto error = [](const char* key, const nlohmann::json& value) {
    nlohmann::json json = to_json(agent_landscapes().front());
    json["agents"][key] = value;
    const Result<AgentLandscape> read = agent_landscape_from_json(json);
    return read ? "" : read.error().text();
  };
  EXPECT_THAT(error("right", 1.5), HasSubstr("\"right\" is 1.5; expected a chance"));
  EXPECT_THAT(error("gain", 0), HasSubstr("a number above 0"));
  EXPECT_THAT(error("dead", "often"), HasSubstr("no number \"dead\""));
}

TEST(AgentTreeTest, SearchesPlayThereAndRepeatThemselves) {
  const AgentLandscape landscape = {"agents", {}, false};
  for (const char* player : {"greedy", "mcts", "random"}) {
    const std::vector<double> curve = play({player, 3, 60, 1}, landscape);
    EXPECT_EQ(curve, play({player, 3, 60, 1}, landscape)) << player;
    EXPECT_NE(curve, play({player, 4, 60, 1}, landscape)) << player;
    EXPECT_EQ(curve.size(), 60U) << player;
    EXPECT_EQ(curve.front(), std::exp(-1.8)) << "the start is the baseline";
    EXPECT_GT(curve.back(), curve.front()) << player;
    EXPECT_EQ(play({player, 3, 60, 8}, landscape).size(), 60U) << player;
  }
  EXPECT_THAT(check_player("tuner", landscape).error().text(), HasSubstr("it is a tree"));
}

}  // namespace
}  // namespace kernelpro
