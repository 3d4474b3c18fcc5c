// The loop with a real search and a real playbook; only the laboratory answers from a formula, so
// that the same candidate always gets the same verdict.
#include "coordinator/loop/loop.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "coordinator/loop/loop_fixture.hpp"

namespace kernelpro {
namespace {

using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(LoopTest, FindsTheFastestCombinationWithinTheBudget) {
  run_.settings.evaluations = 60;
  work();
  EXPECT_EQ(run_.state, RunState::finished);
  EXPECT_DOUBLE_EQ(best().speedup, 2.0 * 1.5 * 1.4);
  EXPECT_THAT(best().options, ::testing::IsSupersetOf({"-O3", "-ftracer"}));
}

TEST_F(LoopTest, EndsWhenTheBudgetIsSpent) {
  work();
  EXPECT_EQ(charged(), 12);
  EXPECT_EQ(run_.ended_because, "the budget of 12 evaluations is spent");
}

TEST_F(LoopTest, EndsWhenNothingIsLeftToTry) {
  run_.settings.evaluations = 10'000;
  work();
  EXPECT_EQ(run_.ended_because, "nothing is left to try");
  EXPECT_THAT(journal_.closures, Each(Field(&Closure::reason, HasSubstr("were tried"))));
}

TEST_F(LoopTest, TheSameMachineCodeIsNotJudgedTwice) {
  run_.settings.evaluations = 60;
  work();
  std::vector<Node> duplicates;
  std::copy_if(journal_.nodes.begin(), journal_.nodes.end(), std::back_inserter(duplicates),
               [](const Node& node) { return node.state == NodeState::duplicate; });
  ASSERT_THAT(duplicates, ::testing::Not(IsEmpty()));
  for (const Node& node : duplicates) {
    EXPECT_THAT(node.options, ::testing::Contains("-fgcse"));
    EXPECT_GE(node.same_as, 0);
  }
  EXPECT_EQ(laboratory_.judged, charged() + 1 + laboratory_.final_jobs)
      << "the baseline and the finalists come on top";
}

TEST_F(LoopTest, WhatIsNotJudgedIsTriedOnceMoreAndNeverCharged) {
  laboratory_.lose_every = 3;
  work();
  EXPECT_EQ(charged(), 12);
  EXPECT_DOUBLE_EQ(
      best().speedup,
      speed_of(
          {"", Backend::cpu, journal_.sources.at(best().source_hash), "", best().options, {}}));
}

TEST_F(LoopTest, NothingIsBuiltOnAFailedCandidate) {
  run_.settings.evaluations = 60;
  work();
  for (const Node& node : journal_.nodes) {
    EXPECT_TRUE(node.parent == no_node ||
                journal_.nodes[static_cast<std::size_t>(node.parent)].outcome == Outcome::passed);
  }
}

TEST_F(LoopTest, ASuspectResultIsNeverTheBestUnlessAccepted) {
  run_.settings.evaluations = 60;
  laboratory_.suspect_option = "-O3";
  work();
  EXPECT_THAT(best().options, ::testing::Not(::testing::Contains("-O3")));
}

TEST_F(LoopTest, WhatDoesNotHoldAgainstTheBaselineIsNotTheBest) {
  run_.settings.evaluations = 60;
  laboratory_.unconfirmed_option = "-ftracer";
  work();
  EXPECT_THAT(best().options, ::testing::Not(::testing::Contains("-ftracer")));
}

// The fastest has N = 4; with N = 3 it is 7 % slower, and with N = 2 more than 10 %.
TEST_F(LoopTest, TheObjectiveDecidesAmongTheFinalistsAndTheSearchIsByTime) {
  run_.settings.evaluations = 60;
  work();
  EXPECT_EQ(laboratory_.energy_jobs, 0);
  EXPECT_THAT(run_.ranking, IsEmpty());
  for (const auto& [objective, size] :
       {std::pair(Objective::energy, "int N = 3"), std::pair(Objective::edp, "int N = 3"),
        std::pair(Objective::time_then_energy, "int N = 4")}) {
    const std::string name(name_of(objective));
    run_.settings.objective = objective;
    journal_.clear();
    laboratory_.energy_jobs = 0;
    work();
    EXPECT_EQ(run_.state, RunState::finished);
    EXPECT_EQ(laboratory_.energy_jobs, 2) << name;
    ASSERT_EQ(run_.ranking.size(), 2U) << name;
    EXPECT_THAT(journal_.sources.at(best().source_hash), HasSubstr(size)) << name;
    EXPECT_EQ(run_.best, best_);
    EXPECT_EQ(run_.ranking.front().node, best_) << name;
    EXPECT_TRUE(run_.ranking.front().holds);
  }
}

TEST_F(LoopTest, WithoutAnyMeasuredEnergyNothingIsClaimed) {
  run_.settings.evaluations = 60;
  run_.settings.objective = Objective::energy;
  laboratory_.measures_energy = false;
  work();
  EXPECT_EQ(run_.state, RunState::finished);
  EXPECT_THAT(run_.ranking, IsEmpty());
  EXPECT_EQ(run_.best, root_node);
}

TEST_F(LoopTest, FinalistsWhoseEnergyIsAwaitedAreAllAskedForAtOnce) {
  run_.settings.evaluations = 60;
  run_.settings.objective = Objective::energy;
  work();
  const std::vector<Finalist> ranking = run_.ranking;
  const LoopHistory history{journal_.nodes, journal_.closures};
  SlowLaboratory slow(laboratory_);
  work_with(slow, history);
  EXPECT_EQ(run_.state, RunState::waiting);
  EXPECT_EQ(run_.ended_because, "waiting for 2 results");
  EXPECT_THAT(run_.ranking, IsEmpty());
  slow.deliver(1);
  work_with(slow, {journal_.nodes, journal_.closures});
  EXPECT_EQ(run_.state, RunState::waiting);
  slow.deliver(1);
  work_with(slow, {journal_.nodes, journal_.closures});
  EXPECT_EQ(run_.state, RunState::finished);
  ASSERT_EQ(run_.ranking.size(), 2U);
  EXPECT_EQ(run_.ranking.front().node, ranking.front().node);
}

TEST_F(LoopTest, ABaselineThatDoesNotPassIsAnError) {
  run_.task.baselines.front().options = {"-fno-plt"};
  PlaybookSettings settings;
  settings.moves = folder_->path();
  const Result<Playbook> playbook = Playbook::load(settings);
  const Result<std::unique_ptr<Search>> search = make_search("greedy", "default", 1);
  ClosedLoop loop(run_, **search, *playbook, laboratory_, journal_);
  const Status worked = loop.work({}, {});
  ASSERT_FALSE(worked);
  EXPECT_THAT(worked.error().text(), HasSubstr("small: the baseline itself does not pass: wrong"));
}

// As of a profile whose only finding names that move.
DiagnosisReport finding_for(const std::string& move, KernelClass kind = KernelClass::l1) {
  DiagnosisReport report;
  report.kind = kind;
  report.reason = "shared memory is used up";
  Finding finding;
  finding.tool = "bank_conflicts";
  finding.moves = {move};
  finding.predicted_gain = 3;
  report.findings = {finding};
  return report;
}

class LoopOnAGpu : public LoopTest {
 protected:
  LoopOnAGpu() {
    run_.settings.judging.backend = Backend::cuda;
    run_.task.baselines.front().backend = Backend::cuda;
  }
};

TEST_F(LoopOnAGpu, FindingsOfACandidateAreKeptWithItsNode) {
  laboratory_.diagnosis = finding_for("tracer");
  work();
  EXPECT_EQ(laboratory_.diagnose_jobs, charged() + 1) << "the confirmation needs none";
  for (const Node& node : journal_.nodes) {
    if (node.state == NodeState::judged && node.outcome == Outcome::passed) {
      EXPECT_EQ(node.diagnosis.kind, KernelClass::l1);
      EXPECT_EQ(node.diagnosis.bottleneck, Bottleneck::memory);
      ASSERT_EQ(node.diagnosis.findings.size(), 1U) << node.id;
      EXPECT_EQ(node.diagnosis.findings[0].tool, "bank_conflicts");
    } else {
      EXPECT_THAT(node.diagnosis.findings, IsEmpty()) << node.id;
    }
  }
}

TEST_F(LoopOnAGpu, FindingsStayWhenTheBestIsConfirmed) {
  for (const KernelClass kind : {KernelClass::l1, KernelClass::unknown}) {
    journal_.clear();
    laboratory_.diagnosis = finding_for("tracer", kind);
    work();
    EXPECT_NE(best_, root_node);
    EXPECT_EQ(best().diagnosis.kind, kind);
    EXPECT_EQ(best().diagnosis.findings.size(), 1U);
  }
}

TEST_F(LoopOnAGpu, FindingsOfTheParentDecideWhatIsTriedFirst) {
  run_.settings.in_flight = 1;
  run_.settings.evaluations = 1;
  for (const char* move : {"o3", "tracer", "web", "tune"}) {
    journal_.clear();
    laboratory_.diagnosis = finding_for(move);
    work();
    ASSERT_GE(journal_.nodes.size(), 2U);
    EXPECT_EQ(journal_.nodes[1].move, move);
  }
}

TEST_F(LoopOnAGpu, ARunThatIsTakenUpAgainKnowsItsFindings) {
  run_.settings.in_flight = 1;
  for (const char* move : {"tracer", "web"}) {
    journal_.clear();
    laboratory_.diagnosis = finding_for(move);
    run_.settings.evaluations = 0;
    work();
    ASSERT_EQ(journal_.nodes.size(), 1U);
    run_.settings.evaluations = 1;
    work({journal_.nodes, journal_.closures});
    ASSERT_GE(journal_.nodes.size(), 2U);
    EXPECT_EQ(journal_.nodes[1].move, move);
  }
}

TEST_F(LoopOnAGpu, WithoutFeedbackNothingIsDiagnosed) {
  laboratory_.diagnosis = finding_for("tracer");
  run_.settings.feedback = Feedback::none;
  work();
  EXPECT_EQ(laboratory_.diagnose_jobs, 0);
  EXPECT_THAT(best().diagnosis.findings, IsEmpty());
}

TEST_F(LoopOnAGpu, ADiagnosisThatFailedLeavesTheOneFromTimes) {
  laboratory_.diagnosis.reset();
  work();
  EXPECT_GT(laboratory_.diagnose_jobs, 0);
  EXPECT_EQ(best().diagnosis.kind, KernelClass::unknown);
  EXPECT_EQ(run_.state, RunState::finished);
}

TEST_F(LoopTest, LooksBrieflyAtCandidatesAndInFullAtFinalists) {
  work();
  EXPECT_EQ(laboratory_.brief_searched, charged() + 1);
  EXPECT_GT(laboratory_.final_jobs, 0);
  EXPECT_EQ(laboratory_.brief_finalists, 0);
}

TEST_F(LoopTest, OnACpuOnlyWhatIsFasterThanItsParentIsDiagnosed) {
  work();
  EXPECT_EQ(laboratory_.diagnose_jobs, charged() + 1);
  EXPECT_EQ(laboratory_.diagnose_bounds.front(), 0) << "the root always";
  EXPECT_TRUE(std::all_of(laboratory_.diagnose_bounds.begin() + 1,
                          laboratory_.diagnose_bounds.end(),
                          [](double above) { return above > 0; }));
}

std::vector<std::string> shape_of(const std::vector<Node>& nodes) {
  std::vector<std::string> out;
  for (const Node& node : nodes) {
    out.push_back(std::to_string(node.parent) + " " + node.candidate_key + " " +
                  std::string(name_of(node.state)));
  }
  return out;
}

Candidate given(int size) {
  Candidate candidate;
  candidate.name = "mine";
  candidate.source =
      "// kp:tune N = 5 6 7 8\nconstexpr int N = " + std::to_string(size) + ";\nint mine;\n";
  candidate.options = {"-O2"};
  return candidate;
}

TEST_F(LoopTest, WhatTheUserGaveComesFirstAndIsSearchedFrom) {
  run_.settings.starts = {given(5), given(6)};
  run_.settings.evaluations = 40;
  work();
  ASSERT_GT(journal_.nodes.size(), 3U);
  for (const std::size_t id : {1U, 2U}) {
    EXPECT_EQ(journal_.nodes[id].parent, root_node);
    EXPECT_EQ(journal_.nodes[id].plan, "given to search from: mine");
    EXPECT_THAT(journal_.nodes[id].reasons, ::testing::ElementsAre("given by the user"));
  }
  EXPECT_THAT(journal_.sources.at(best().source_hash), HasSubstr("int mine;"));
  EXPECT_DOUBLE_EQ(best().speedup, 2.0 * 1.5 * 1.8);
}

TEST_F(LoopTest, WhatTheUserGaveIsThereOnceHoweverOftenTheRunIsResumed) {
  run_.settings.starts = {given(5), given(5), given(6)};
  for (int stop_after = 1; stop_after < 5; ++stop_after) {
    journal_.clear();
    laboratory_.judged = 0;
    laboratory_.stop = std::stop_source();
    laboratory_.stop_after = stop_after;
    work();
    laboratory_.stop = std::stop_source();
    laboratory_.stop_after = 0;
    work({journal_.nodes, journal_.closures});
    EXPECT_EQ(charged(), 12);
    EXPECT_EQ(std::count_if(journal_.nodes.begin(), journal_.nodes.end(),
                            [](const Node& node) { return node.move == "start"; }),
              2);
  }
}

class LoopResumed : public LoopTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(LoopResumed, ARunThatIsStoppedAnywhereEndsWithTheSameTree) {
  run_.settings.search = GetParam();
  run_.settings.evaluations = 30;
  work();
  const std::vector<std::string> whole = shape_of(journal_.nodes);
  for (int stop_after = 1; stop_after < 30; stop_after += 3) {
    journal_.clear();
    laboratory_.judged = 0;
    laboratory_.stop = std::stop_source();
    laboratory_.stop_after = stop_after;
    work();
    EXPECT_EQ(run_.state, RunState::interrupted);
    laboratory_.stop = std::stop_source();
    laboratory_.stop_after = 0;
    work({journal_.nodes, journal_.closures});
    EXPECT_EQ(run_.state, RunState::finished);
    EXPECT_EQ(shape_of(journal_.nodes), whole) << "stopped after " << stop_after;
  }
}

INSTANTIATE_TEST_SUITE_P(Searches, LoopResumed,
                         ::testing::Values("horizon", "mcts", "greedy", "beam", "elites", "random"),
                         [](const auto& named) { return std::string(named.param); });

TEST_F(LoopTest, AnotherSeedOfTheRandomSearchGivesAnotherTree) {
  run_.settings.search = "random";
  work();
  const std::vector<std::string> first = shape_of(journal_.nodes);
  journal_.clear();
  run_.settings.seed = 2;
  work();
  EXPECT_NE(shape_of(journal_.nodes), first);
}

TEST_F(LoopTest, AFinishedRunGoesOnWithMoreBudget) {
  work();
  run_.settings.evaluations = 20;
  work({journal_.nodes, journal_.closures});
  EXPECT_EQ(charged(), 20);
}

TEST_F(LoopTest, WaitsForALaboratoryThatAnswersLater) {
  run_.settings.evaluations = 60;
  run_.settings.in_flight = 8;
  SlowLaboratory slow(laboratory_);
  work_with(slow, {});
  EXPECT_EQ(run_.state, RunState::waiting);
  EXPECT_EQ(run_.ended_because, "waiting for 1 result");
  std::size_t most_asked = 0;
  for (int visits = 0; run_.state == RunState::waiting; ++visits) {
    ASSERT_LT(visits, 200);
    most_asked = std::max(most_asked, slow.asked());
    slow.deliver(3);
    work_with(slow, {journal_.nodes, journal_.closures});
  }
  EXPECT_EQ(run_.state, RunState::finished);
  EXPECT_EQ(most_asked, 8U);
  EXPECT_DOUBLE_EQ(best().speedup, 2.0 * 1.5 * 1.4);
  for (const Node& node : journal_.nodes) {
    if (node.id != root_node && node.outcome == Outcome::passed) {
      const std::string& source = journal_.sources.at(node.source_hash);
      EXPECT_NEAR(node.speedup, speed_of({"", Backend::cpu, source, "", node.options, {}}), 1e-9)
          << "taken against the wrong incumbent: node " << node.id;
    }
  }
}

TEST_F(LoopTest, ProposesNothingNewWhileAnAnswerIsAwaited) {
  run_.settings.in_flight = 4;
  SlowLaboratory slow(laboratory_);
  work_with(slow, {});
  slow.deliver(1);
  work_with(slow, {journal_.nodes, journal_.closures});
  ASSERT_EQ(slow.asked(), 4U);
  slow.deliver(3);
  work_with(slow, {journal_.nodes, journal_.closures});
  EXPECT_EQ(slow.asked(), 1U);
  EXPECT_THAT(journal_.nodes, ::testing::SizeIs(5));
  EXPECT_EQ(run_.ended_because, "waiting for 1 result");
}

}  // namespace
}  // namespace kernelpro
