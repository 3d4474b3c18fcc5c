// What every way to search promises, asked of each of them.
#include "coordinator/search/search.hpp"

#include <gmock/gmock.h>

#include <set>
#include <variant>

#include "common/base/random.hpp"
#include "coordinator/search/simulate.hpp"

namespace kernelpro {
namespace {

using landscape::Player;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<Search> made(const Player& player, std::uint64_t seed = 1) {
  return make_search(player.search, player.preset, seed).value();
}

SearchResult passed(NodeId node, double speedup) {
  return {.node = node, .outcome = Outcome::passed, .speedup = speedup};
}

SearchResult failed(NodeId node, Outcome outcome) {
  return {.node = node, .outcome = outcome};
}

class AnySearchTest : public ::testing::TestWithParam<Player> {
 protected:
  void plant() {
    search_->begin(root_node, no_node);
    search_->tell(passed(root_node, 1));
  }
  void add(NodeId child, NodeId parent, const SearchResult& result) {
    search_->begin(child, parent);
    search_->tell(result);
  }
  [[nodiscard]] std::vector<std::string> reasons() const {
    const std::optional<Choice> choice = search_->ask();
    return choice ? choice->reasons : std::vector<std::string>();
  }
  [[nodiscard]] NodeId asked() const {
    const std::optional<Choice> choice = search_->ask();
    return choice ? choice->parent : no_node;
  }

  std::unique_ptr<Search> search_ = made(GetParam());
};

TEST_P(AnySearchTest, AsksNothingBeforeTheRootIsJudged) {
  EXPECT_EQ(asked(), no_node);
  search_->begin(root_node, no_node);
  EXPECT_EQ(asked(), no_node);
  search_->tell(passed(root_node, 1));
  EXPECT_EQ(asked(), root_node);
}

TEST_P(AnySearchTest, ExpandsTheRootEvenIfItCouldNotBeJudged) {
  search_->begin(root_node, no_node);
  search_->tell(failed(root_node, Outcome::not_judged));
  EXPECT_EQ(asked(), root_node);
}

TEST_P(AnySearchTest, ExpandsARootThatFailed) {
  search_->begin(root_node, no_node);
  search_->tell(failed(root_node, Outcome::crashed));
  EXPECT_EQ(asked(), root_node);
}

TEST_P(AnySearchTest, NeverChoosesANodeInFlight) {
  plant();
  for (NodeId child = 1; child <= 20; ++child) {
    EXPECT_EQ(asked(), root_node) << "with " << child - 1 << " in flight";
    search_->begin(child, root_node);
  }
}

TEST_P(AnySearchTest, AsksForNothingOnlyWhileAllIsClosedOrInFlight) {
  plant();
  search_->begin(1, root_node);
  search_->close(root_node, "no move applies");
  EXPECT_EQ(asked(), no_node);
  search_->tell(passed(1, 2));
  EXPECT_EQ(asked(), 1);
  search_->close(1, "no move applies");
  EXPECT_EQ(asked(), no_node);
}

TEST_P(AnySearchTest, ChildrenOfAClosedNodeMayBeExpanded) {
  plant();
  add(1, root_node, passed(1, 2));
  add(2, 1, passed(2, 3));
  search_->close(root_node, "no move applies");
  search_->close(1, "no move applies");
  EXPECT_EQ(asked(), 2);
}

TEST_P(AnySearchTest, ANodeClosedInFlightIsNotExpandedLater) {
  plant();
  search_->begin(1, root_node);
  search_->close(1, "the source is the same as that of node 0");
  search_->tell(passed(1, 9));
  search_->close(root_node, "no move applies");
  EXPECT_EQ(asked(), no_node);
}

TEST_P(AnySearchTest, WhatWasNotJudgedTeachesNothing) {
  plant();
  add(1, root_node, passed(1, 2));
  search_->close(1, "no move applies");
  const std::vector<std::string> before = search_->explain(root_node);
  search_->begin(2, root_node);
  search_->tell(failed(2, Outcome::not_judged));
  EXPECT_EQ(search_->explain(root_node), before);
  EXPECT_EQ(asked(), root_node);
  EXPECT_THAT(search_->explain(2), Contains(HasSubstr("tried and not judged")));
}

TEST_P(AnySearchTest, WhatWasNotJudgedMayBeginAgain) {
  plant();
  search_->begin(1, root_node);
  search_->tell(failed(1, Outcome::not_judged));
  add(1, root_node, passed(1, 5));
  search_->close(root_node, "no move applies");
  EXPECT_EQ(asked(), 1);
}

TEST_P(AnySearchTest, CallsThatMakeNoSenseChangeNothing) {
  plant();
  add(1, root_node, passed(1, 2));
  const std::vector<std::string> before = search_->explain(root_node);
  search_->begin(7, 99);
  search_->tell(passed(7, 100));
  search_->tell(passed(1, 100));
  search_->begin(1, root_node);
  search_->begin(8, no_node);
  search_->close(99, "nobody knows it");
  EXPECT_EQ(search_->explain(root_node), before);
  search_->close(root_node, "no move applies");
  search_->close(1, "no move applies");
  EXPECT_EQ(asked(), no_node);
}

TEST_P(AnySearchTest, AskingTwiceGivesTheSameAnswer) {
  plant();
  for (NodeId child = 1; child <= 30; ++child) {
    const NodeId parent = asked();
    EXPECT_EQ(asked(), parent);
    add(child, parent, passed(child, 1 + 0.1 * static_cast<double>(child % 7)));
  }
}

TEST_P(AnySearchTest, ExplainsWhyANodeIsNotExpanded) {
  plant();
  EXPECT_THAT(search_->explain(root_node), Contains("its branch is open"));
  EXPECT_THAT(search_->explain(5), ElementsAre("node 5 was never begun in this search"));
  search_->begin(1, root_node);
  EXPECT_THAT(search_->explain(1), Contains("the node waits for its result"));
  search_->close(root_node, "every move was tried");
  EXPECT_THAT(search_->explain(root_node), Contains("the node is closed: every move was tried"));
  EXPECT_THAT(search_->explain(root_node),
              Contains("its branch can be expanded once a result is told: 1 in flight"));
  search_->tell(passed(1, 2));
  search_->close(1, "every move was tried");
  EXPECT_THAT(search_->explain(root_node),
              Contains("its branch is closed: nothing in it can be expanded"));
}

TEST_P(AnySearchTest, ReasonsNameTheChosenNodeAndItsSpeed) {
  plant();
  add(1, root_node, passed(1, 3.2));
  search_->close(root_node, "no move applies");
  EXPECT_THAT(reasons().back(), HasSubstr("node 1 (3.20x"));
}

// One call to a search, as a run records it.
struct Begun {
  NodeId child;
  NodeId parent;
};
struct Closed {
  NodeId node;
};
using Event = std::variant<Begun, SearchResult, Closed>;

void repeat(const Event& event, Search& search) {
  if (const auto* begun = std::get_if<Begun>(&event)) {
    search.begin(begun->child, begun->parent);
  } else if (const auto* result = std::get_if<SearchResult>(&event)) {
    search.tell(*result);
  } else {
    search.close(std::get<Closed>(event).node, "no move applies");
  }
}

// Drives a search by chance: several in flight, results of every kind in any order, closings.
class Session {
 public:
  explicit Session(std::uint64_t seed) : random_(seed) {}

  // The next event for `search`, which it is told already.
  Event step(Search& search) {
    const Event event = next(search);
    repeat(event, search);
    if (const auto* begun = std::get_if<Begun>(&event)) {
      in_flight_.push_back(begun->child);
    }
    return event;
  }

 private:
  Event next(Search& search) {
    if (born_ == 0) {
      return Begun{.child = born_++, .parent = no_node};
    }
    const std::optional<Choice> choice = search.ask();
    if (!choice || in_flight_.size() > random_.below(4)) {
      return land();
    }
    if (choice->parent != root_node && random_.below(10) == 0) {
      return Closed{.node = choice->parent};
    }
    return Begun{.child = born_++, .parent = choice->parent};
  }

  SearchResult land() {
    const auto place = static_cast<std::ptrdiff_t>(random_.below(in_flight_.size()));
    const NodeId node = in_flight_[static_cast<std::size_t>(place)];
    in_flight_.erase(in_flight_.begin() + place);
    const auto kind = random_.below(8);
    if (kind < 3 && node != root_node) {
      const Outcome failures[] = {Outcome::build_failed, Outcome::incorrect, Outcome::not_judged};
      return failed(node, failures[kind]);
    }
    SearchResult result = passed(node, 0.5 + 4 * random_.unit());
    result.eligible = kind != 3;
    result.noise = 0.1 * random_.unit();
    result.outlook = kind == 4 ? random_.unit() : 0;
    result.kind = static_cast<int>(random_.below(3));
    return result;
  }

  Random random_;
  NodeId born_ = root_node;
  std::vector<NodeId> in_flight_;
};

TEST_P(AnySearchTest, ToldTheRecordedEventsItGoesOnAsBefore) {
  Session session(77);
  std::vector<Event> events;
  events.reserve(300);
  for (int i = 0; i < 300; ++i) {
    events.push_back(session.step(*search_));
  }
  const std::unique_ptr<Search> again = made(GetParam());
  for (const Event& event : events) {
    repeat(event, *again);
  }
  for (int i = 0; i < 50; ++i) {
    const std::optional<Choice> one = search_->ask();
    const std::optional<Choice> other = again->ask();
    ASSERT_EQ(one.has_value(), other.has_value());
    if (one) {
      EXPECT_EQ(one->parent, other->parent);
      EXPECT_EQ(one->reasons, other->reasons);
    }
    repeat(session.step(*search_), *again);
  }
}

// What a search must know of its nodes, kept apart from it.
class OpenNodes {
 public:
  void take(const Event& event) {
    if (const auto* begun = std::get_if<Begun>(&event)) {
      in_flight_.insert(begun->child);
    } else if (const auto* closed = std::get_if<Closed>(&event)) {
      closed_.insert(closed->node);
    } else {
      const auto& result = std::get<SearchResult>(event);
      const bool judged = result.outcome != Outcome::not_judged || result.node == root_node;
      if (in_flight_.erase(result.node) > 0 && judged) {
        judged_.insert(result.node);
      }
    }
  }
  [[nodiscard]] bool open(NodeId node) const {
    return judged_.contains(node) && !closed_.contains(node) && !in_flight_.contains(node);
  }

 private:
  std::set<NodeId> in_flight_;
  std::set<NodeId> judged_;
  std::set<NodeId> closed_;
};

TEST_P(AnySearchTest, WhateverIsToldInWhateverOrderItAsksForWhatCanBeExpanded) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::unique_ptr<Search> search = made(GetParam(), seed);
    Session session(seed);
    Random random(seed + 100);
    OpenNodes open;
    std::vector<Event> past;
    for (int i = 0; i < 200; ++i) {
      past.push_back(session.step(*search));
      open.take(past.back());
      // A worker that was thought lost tells again, with another result.
      if (random.below(4) == 0) {
        Event again = past[random.below(past.size())];
        if (auto* result = std::get_if<SearchResult>(&again);
            result != nullptr && open.open(result->node)) {
          result->speedup = 100 * random.unit();
          search->tell(*result);
        }
      }
      const std::optional<Choice> choice = search->ask(200 - i);
      if (choice) {
        ASSERT_TRUE(open.open(choice->parent)) << "seed " << seed << ", event " << i;
        ASSERT_FALSE(choice->reasons.empty());
      } else if (GetParam().preset == "default") {
        ASSERT_FALSE(i > 2 && open.open(root_node)) << "seed " << seed << ", event " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Searches, AnySearchTest,
                         ::testing::Values(Player{"horizon", "default"}, Player{"mcts", "default"},
                                           Player{"mcts", "steady"}, Player{"mcts", "paper"},
                                           Player{"greedy", "default"}, Player{"beam", "default"},
                                           Player{"elites", "default"},
                                           Player{"random", "default"}),
                         [](const ::testing::TestParamInfo<Player>& player) {
                           return player.param.search + "_" + player.param.preset;
                         });

TEST(MakeSearchTest, AnUnknownNameListsTheKnownOnes) {
  const auto search = make_search("astar", "default", 1);
  ASSERT_FALSE(search.ok());
  EXPECT_EQ(search.error().text(),
            "there is no search \"astar\"; choose one of \"horizon\", \"mcts\", \"greedy\", "
            "\"beam\", \"elites\", \"random\"");
}

TEST(MakeSearchTest, AnUnknownPresetListsTheKnownOnes) {
  const auto mcts = make_search("mcts", "fast", 1);
  ASSERT_FALSE(mcts.ok());
  EXPECT_EQ(mcts.error().text(),
            "the search \"mcts\" has no preset \"fast\"; choose one of \"default\", \"steady\", "
            "\"paper\"");
  const auto greedy = make_search("greedy", "paper", 1);
  ASSERT_FALSE(greedy.ok());
  EXPECT_EQ(greedy.error().text(),
            "the search \"greedy\" has no preset \"paper\"; choose one of \"default\"");
}

TEST(MakeSearchTest, EveryNameCanBeMade) {
  for (const char* name : {"horizon", "mcts", "greedy", "beam", "elites", "random"}) {
    EXPECT_TRUE(make_search(name, "default", 1).ok()) << name;
  }
}

}  // namespace
}  // namespace kernelpro
