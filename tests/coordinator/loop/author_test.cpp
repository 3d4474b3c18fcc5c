// The loop with an author that stands for the agents: what it is given, and what becomes of what it
// says.
#include <gmock/gmock.h>

#include <algorithm>
#include <mutex>

#include "coordinator/loop/loop_fixture.hpp"
#include "coordinator/loop/repair.hpp"

namespace kernelpro {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Says for each node what the test told it to; else a candidate with one more option.
class ScriptedAuthor : public Author {
 public:
  Result<Proposed> write(const AgentOrder& order, std::stop_token) override {
    const std::lock_guard lock(mutex_);
    orders.insert_or_assign(order.node, order);
    ++asked[order.node];
    if (const auto found = script.find(order.node); found != script.end()) {
      return found->second;
    }
    return candidate(order, "-DSTEP_" + std::to_string(order.node));
  }

  static Proposed candidate(const AgentOrder& order, const std::string& option) {
    Proposed out;
    out.proposal.move = "written";
    out.proposal.plan = "one more option";
    out.proposal.candidate = order.parent;
    out.proposal.candidate.options.push_back(option);
    return out;
  }

  static Proposed saying(Proposed::Kind kind, const std::string& reason) {
    Proposed out;
    out.kind = kind;
    out.reason = reason;
    return out;
  }

  std::map<NodeId, Result<Proposed>> script;
  std::map<NodeId, AgentOrder> orders;
  std::map<NodeId, int> asked;

 private:
  std::mutex mutex_;
};

class AuthorTest : public LoopTest {
 protected:
  AuthorTest() {
    run_.settings.llm.emplace();
    run_.settings.tiers = {"tune"};
    run_.settings.evaluations = 8;
    run_.task.files["base.cpp"] = "int main() {}\n";
  }

  void work_on() { work_with(laboratory_, {journal_.nodes, journal_.closures}, &author_); }

  // Node `id` fails, and was planned to gain so much over its parent.
  void fails(NodeId id, double predicted_gain) {
    Proposed wrong;
    wrong.proposal.move = "written";
    wrong.proposal.predicted_gain = predicted_gain;
    wrong.proposal.candidate.backend = Backend::cpu;
    wrong.proposal.candidate.source = "int node_" + std::to_string(id) + ";\n";
    wrong.proposal.candidate.options = {"-fno-plt"};
    author_.script.insert_or_assign(id, wrong);
  }

  [[nodiscard]] const Node& node(NodeId id) const {
    return journal_.nodes[static_cast<std::size_t>(id)];
  }

  ScriptedAuthor author_;
};

TEST_F(AuthorTest, WritesUntilTheBudgetIsSpent) {
  work_on();
  ASSERT_TRUE(worked_) << worked_.error().text();
  EXPECT_EQ(charged(), 8);
  EXPECT_EQ(run_.state, RunState::finished);
  for (const auto& [id, times] : author_.asked) {
    EXPECT_EQ(times, 1) << id;
    EXPECT_EQ(node(id).move, "written");
    EXPECT_EQ(node(id).state, NodeState::judged);
  }
}

TEST_F(AuthorTest, IsGivenWhatWasKnownWhenTheNodeWasChosen) {
  work_on();
  for (const auto& [id, order] : author_.orders) {
    EXPECT_EQ(order.parent_tried.node.id, node(id).parent);
    for (const Tried& tried : order.all) {
      EXPECT_LT(tried.node.ended, node(id).born);
      EXPECT_EQ(tried.verdict.has_value(), tried.node.state == NodeState::judged);
    }
    EXPECT_THAT(order.siblings, Each(Field(&Tried::node, Field(&Node::parent, node(id).parent))));
    EXPECT_LE(order.evaluations_left, 8);
    EXPECT_GT(order.evaluations_left, 0);
  }
}

TEST_F(AuthorTest, IsToldHowManyOthersAreUnderWayFromTheSameParent) {
  run_.settings.in_flight = 4;
  work_on();
  int most = 0;
  for (const auto& [id, order] : author_.orders) {
    const Node& child = node(id);
    const auto others =
        std::count_if(journal_.nodes.begin(), journal_.nodes.end(), [&child](const Node& one) {
          return one.parent == child.parent && one.id < child.id && one.ended >= child.born;
        });
    EXPECT_EQ(order.under_way, others) << id;
    EXPECT_LE(std::ssize(order.planned), others) << id;
    for (const Node& one : order.planned) {
      EXPECT_EQ(one.parent, child.parent) << id;
      EXPECT_FALSE(one.plan.empty()) << id;
    }
    most = std::max(most, order.under_way);
  }
  EXPECT_GT(most, 0);
}

TEST_F(AuthorTest, TunablesAreSweptWithoutAskingIt) {
  run_.task.files["base.cpp"] = "// kp:tune N = 1 2 3 4\nconstexpr int N = 1;\n";
  work_on();
  std::vector<std::string> moves;
  for (const Node& one : journal_.nodes) {
    moves.push_back(one.move);
  }
  EXPECT_THAT(moves, Contains("tune"));
  EXPECT_THAT(moves, Contains("written"));
}

TEST_F(AuthorTest, AFailedCandidateIsGivenToItWithItsEvidenceSoManyTimes) {
  run_.settings.llm->repairs = 2;
  run_.settings.in_flight = 1;
  run_.settings.evaluations = 40;
  // Everything fails: only repairs of repairs are left.
  for (NodeId id = 1; id < 60; ++id) {
    fails(id, 1);
  }
  work_on();
  bool repaired = false;
  for (const auto& [id, order] : author_.orders) {
    if (order.parent_tried.node.outcome == Outcome::incorrect) {
      repaired = true;
      ASSERT_TRUE(order.parent_tried.verdict);
      EXPECT_EQ(order.parent_tried.verdict->summary, "wrong");
    }
    int failures = 0;
    for (NodeId up = node(id).parent; up > root_node; up = node(up).parent) {
      ++failures;
    }
    EXPECT_LE(failures, 2);
  }
  EXPECT_TRUE(repaired);
}

class RepairTest : public AuthorTest {
 protected:
  RepairTest() {
    run_.settings.in_flight = 1;
    run_.settings.evaluations = 6;
  }

  [[nodiscard]] std::vector<NodeId> parents() const {
    std::vector<NodeId> out;
    for (const Node& one : journal_.nodes) {
      out.push_back(one.parent);
    }
    return out;
  }
};

TEST_F(RepairTest, AFailureThatPromisesMoreThanTheBestIsRepairedBeforeAnythingElse) {
  fails(2, 50);
  work_on();
  ASSERT_TRUE(worked_) << worked_.error().text();
  ASSERT_EQ(node(2).outcome, Outcome::incorrect);
  EXPECT_EQ(node(3).parent, 2);
  EXPECT_THAT(node(3).reasons, ElementsAre(HasSubstr("node 2 failed, and its plan promises")));
  EXPECT_THAT(node(3).reasons.front(), HasSubstr("repair 1 of 3"));
  // The repair passed: the search goes on as it likes.
  EXPECT_NE(node(4).parent, 2);
}

TEST_F(RepairTest, ARepairThatFailsIsRepairedWithThePromiseOfItsPlanSoManyTimes) {
  run_.settings.llm->repairs = 2;
  run_.settings.evaluations = 8;
  fails(1, 50);
  fails(2, 1);
  fails(3, 1);
  fails(4, 1);
  work_on();
  EXPECT_EQ(node(2).parent, 1);
  EXPECT_EQ(node(3).parent, 2);
  EXPECT_THAT(parents(), Not(Contains(3)));
}

TEST_F(RepairTest, AFailureThatPromisesNoMoreThanTheBestIsLeftToTheSearch) {
  fails(2, 0.5);
  work_on();
  ASSERT_EQ(node(2).outcome, Outcome::incorrect);
  EXPECT_THAT(node(3).reasons, Not(Contains(HasSubstr("its plan promises"))));
}

TEST_F(RepairTest, SeveralAreRepairedSideBySideTheMostPromisingFirst) {
  run_.settings.in_flight = 3;
  fails(1, 20);
  fails(2, 50);
  work_on();
  ASSERT_GE(std::ssize(journal_.nodes), 6);
  EXPECT_EQ(node(4).parent, 2);
  EXPECT_EQ(node(5).parent, 1);
}

TEST_F(RepairTest, WhatThePlaybookBrokeIsNotRepairedForItsPromise) {
  std::vector<Node> nodes(2);
  nodes[0].state = NodeState::judged;
  nodes[0].outcome = Outcome::passed;
  nodes[0].speedup = 1;
  nodes[1].id = 1;
  nodes[1].parent = root_node;
  nodes[1].state = NodeState::judged;
  nodes[1].outcome = Outcome::build_failed;
  nodes[1].predicted_gain = 4;
  EXPECT_FALSE(promising_repair(nodes, nodes[0], 3));
  nodes[1].by_models = true;
  ASSERT_TRUE(promising_repair(nodes, nodes[0], 3));
  EXPECT_EQ(promising_repair(nodes, nodes[0], 3)->parent, 1);
  EXPECT_FALSE(promising_repair(nodes, nodes[0], 0));
}

TEST_F(RepairTest, AResumedRunRepairsAsOneThatNeverStopped) {
  fails(2, 50);
  run_.settings.evaluations = 2;
  work_on();
  ASSERT_EQ(node(2).outcome, Outcome::incorrect);
  run_.settings.evaluations = 6;
  work_on();
  EXPECT_EQ(node(3).parent, 2);
}

TEST_F(AuthorTest, WhatItCannotWriteIsANodeThatSaysWhyAndCostsNoEvaluation) {
  author_.script.emplace(2, ScriptedAuthor::saying(Proposed::Kind::nothing, "refused twice"));
  work_on();
  EXPECT_EQ(node(2).state, NodeState::unwritten);
  EXPECT_EQ(node(2).summary, "refused twice");
  EXPECT_EQ(charged(), 8);
  EXPECT_THAT(journal_.closures, Contains(Field(&Closure::node, 2)));
  EXPECT_THAT(journal_.nodes, Not(Contains(Field(&Node::parent, 2))));
}

TEST_F(AuthorTest, EndsWhenNothingEverComesOfIt) {
  for (NodeId id = 1; id < 60; ++id) {
    author_.script.emplace(id, ScriptedAuthor::saying(Proposed::Kind::nothing, "only prose"));
  }
  work_on();
  EXPECT_EQ(run_.state, RunState::finished);
  EXPECT_THAT(run_.ended_because, HasSubstr("in a row"));
  EXPECT_THAT(run_.ended_because, HasSubstr("only prose"));
}

TEST_F(AuthorTest, TheSameCandidateAgainIsADuplicate) {
  Proposed same;
  same.proposal.move = "written";
  same.proposal.candidate.source = "int once;\n";
  author_.script.emplace(1, same);
  author_.script.emplace(2, same);
  work_on();
  EXPECT_EQ(node(2).state, NodeState::duplicate);
  EXPECT_EQ(node(2).same_as, 1);
}

TEST_F(AuthorTest, EndsWhenItSaysTheSameAgainAndAgain) {
  Proposed same;
  same.proposal.move = "written";
  same.proposal.candidate.source = "int once;\n";
  for (NodeId id = 1; id < 60; ++id) {
    author_.script.emplace(id, same);
  }
  work_on();
  EXPECT_EQ(run_.state, RunState::finished);
  EXPECT_THAT(run_.ended_because, HasSubstr("the same candidate as node 1"));
  const std::size_t before = journal_.nodes.size();
  work_on();
  EXPECT_GT(journal_.nodes.size(), before) << "taken up nevertheless, it tries again";
}

TEST_F(AuthorTest, ASpentBudgetEndsTheRunAndALargerOneGoesOn) {
  author_.script.emplace(3, ScriptedAuthor::saying(Proposed::Kind::spent, "9 tokens are left"));
  work_on();
  EXPECT_EQ(run_.state, RunState::finished);
  EXPECT_EQ(run_.ended_because, "9 tokens are left");
  EXPECT_EQ(node(3).state, NodeState::proposing);
  author_.script.clear();
  work_on();
  EXPECT_EQ(node(3).state, NodeState::judged);
  EXPECT_EQ(charged(), 8);
}

TEST_F(AuthorTest, WaitsForAnswersAndGoesOnFromTheSameOrder) {
  author_.script.emplace(3, ScriptedAuthor::saying(Proposed::Kind::not_yet, ""));
  work_on();
  EXPECT_EQ(run_.state, RunState::waiting);
  EXPECT_EQ(run_.ended_because, "waiting for 1 proposal of models");
  EXPECT_EQ(node(3).state, NodeState::proposing);
  const AgentOrder before = author_.orders.at(3);
  author_.script.clear();
  work_on();
  const AgentOrder& after = author_.orders.at(3);
  EXPECT_EQ(run_.state, RunState::finished);
  ASSERT_THAT(after.all, SizeIs(before.all.size()));
  for (std::size_t i = 0; i < after.all.size(); ++i) {
    EXPECT_EQ(after.all[i].node.id, before.all[i].node.id);
  }
  EXPECT_EQ(after.evaluations_left, before.evaluations_left);
  EXPECT_EQ(after.best_speedup, before.best_speedup);
  EXPECT_EQ(node(3).state, NodeState::judged);
}

TEST_F(AuthorTest, AnErrorOfOneKeepsWhatTheOthersWrote) {
  run_.settings.in_flight = 2;
  author_.script.emplace(1, make_error(ErrorKind::environment, "wrong key"));
  work_on();
  ASSERT_FALSE(worked_);
  EXPECT_THAT(worked_.error().text(), HasSubstr("wrong key"));
  EXPECT_EQ(node(1).state, NodeState::proposing);
  EXPECT_EQ(node(2).state, NodeState::in_flight);
  EXPECT_GT(run_.wall_ns, 0) << "the time until an error is spent as well";
  author_.script.clear();
  work_on();
  ASSERT_TRUE(worked_) << worked_.error().text();
  EXPECT_EQ(author_.asked.at(2), 1);
  EXPECT_EQ(charged(), 8);
}

}  // namespace
}  // namespace kernelpro
