// The end of a run: its finalists measured side by side, with a laboratory that answers from a
// formula and may be in doubt at the wrong moment.
#include <gmock/gmock.h>

#include <algorithm>

#include "coordinator/loop/loop_fixture.hpp"

namespace kernelpro {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class LoopEnd : public LoopTest {
 protected:
  LoopEnd() { run_.settings.evaluations = 60; }

  [[nodiscard]] std::vector<const Node*> finalists() const {
    std::vector<const Node*> out;
    for (const Node& node : journal_.nodes) {
      if (node.final_phase == run_.final_phases && node.final_phase > 0) {
        out.push_back(&node);
      }
    }
    return out;
  }
};

TEST_F(LoopEnd, TheBestIsConfirmedAgainstTheBaselineItself) {
  work();
  EXPECT_EQ(run_.final_phases, 1);
  EXPECT_TRUE(best().confirmed);
  EXPECT_EQ(run_.best, best_);
  EXPECT_EQ(journal_.certificates.at(best_).incumbent.name, "plain");
  EXPECT_EQ(laboratory_.final_jobs, std::ssize(finalists()));
}

// With N = 4 it is the fastest of the search, with N = 3 it is 7 % slower.
TEST_F(LoopEnd, WhatIsMeasuredAtTheEndDecidesAndNotWhatTheSearchBelieved) {
  laboratory_.at_the_end = [](const Job& job, Verdict& verdict) {
    if (job.candidate.source.find("int N = 4") != std::string::npos) {
      verdict.timing.speedup_interval.low = 1.1;  // it varies
    }
  };
  work();
  EXPECT_THAT(journal_.sources.at(best().source_hash), HasSubstr("int N = 3"));
  EXPECT_TRUE(best().confirmed);
}

TEST_F(LoopEnd, ASuspectThatComesOutCleanMayBeTheBest) {
  laboratory_.suspect_option = "-O3";
  work();
  ASSERT_THAT(best().options, Not(Contains("-O3")));
  laboratory_.quiet_at_the_end = true;
  confirm();
  EXPECT_THAT(best().options, Contains("-O3"));
  EXPECT_TRUE(best().confirmed);
  EXPECT_FALSE(best().suspect);
  EXPECT_EQ(run_.state, RunState::finished);
  EXPECT_EQ(run_.final_phases, 2);
}

TEST_F(LoopEnd, ResumingDoesTheSame) {
  laboratory_.suspect_option = "-O3";
  work();
  laboratory_.quiet_at_the_end = true;
  const std::int64_t before = charged();
  work({journal_.nodes, journal_.closures});
  EXPECT_THAT(best().options, Contains("-O3"));
  EXPECT_EQ(charged(), before) << "nothing new was tried";
}

TEST_F(LoopEnd, ACleanTimingIsNeverReplacedByASuspectOne) {
  laboratory_.noisy_at_the_end = true;
  work();
  EXPECT_EQ(run_.state, RunState::finished);
  ASSERT_NE(best_, root_node);
  EXPECT_DOUBLE_EQ(best().speedup, 2.0 * 1.5 * 1.4);
  EXPECT_FALSE(best().suspect);
  EXPECT_FALSE(best().confirmed) << "it was clean in the search only";
  EXPECT_EQ(best().final_phase, 1);
  EXPECT_FALSE(journal_.certificates.at(best_).verdict.suspect);
}

TEST_F(LoopEnd, WhatWasConfirmedOnceStaysSoUntilItIsRefuted) {
  work();
  const NodeId first = best_;
  laboratory_.noisy_at_the_end = true;
  confirm();
  EXPECT_EQ(best_, first);
  EXPECT_TRUE(best().confirmed);
  laboratory_.noisy_at_the_end = false;
  laboratory_.at_the_end = [](const Job&, Verdict& verdict) {
    verdict.timing.speedup = 1.001;
    verdict.timing.speedup_interval = {0.99, 1.01};
    verdict.timing.comparison = Comparison::same;
  };
  confirm();
  EXPECT_EQ(best_, root_node);
  EXPECT_EQ(run_.best, root_node);
  EXPECT_FALSE(journal_.nodes[static_cast<std::size_t>(first)].confirmed);
}

TEST_F(LoopEnd, WhatNobodyCanJudgeAtTheEndKeepsItsValue) {
  laboratory_.nothing_at_the_end = true;
  work();
  EXPECT_EQ(run_.state, RunState::finished);
  EXPECT_DOUBLE_EQ(best().speedup, 2.0 * 1.5 * 1.4);
  EXPECT_EQ(best().outcome, Outcome::passed);
  EXPECT_FALSE(best().confirmed);
}

TEST_F(LoopEnd, NothingIsTheBestWhereEverythingIsInDoubt) {
  laboratory_.all_suspect = true;
  work();
  EXPECT_EQ(run_.state, RunState::finished);
  EXPECT_EQ(run_.best, root_node);
  EXPECT_EQ(laboratory_.final_jobs, 3) << "the fastest suspects had their chance, and no others";
  run_.settings.accept_suspect = true;
  confirm();
  EXPECT_NE(run_.best, root_node);
}

TEST_F(LoopEnd, NothingIsMeasuredAgainWhereNothingReadsFaster) {
  laboratory_.at_the_end = [](const Job&, Verdict&) { FAIL() << "there is no finalist"; };
  for (const char* id : {"o3", "tracer", "tune"}) {
    std::filesystem::remove(folder_->path() / (std::string(id) + ".md"));
  }
  work();
  EXPECT_EQ(run_.best, root_node);
  EXPECT_EQ(laboratory_.final_jobs, 0);
}

TEST_F(LoopEnd, AtLeastIsSaidOfANodeAndOfWhatWasComparedWithIt) {
  laboratory_.at_least = true;
  work();
  EXPECT_TRUE(best().at_least);
  EXPECT_TRUE(best().confirmed) << "a claim against the baseline at its best is a claim";
  EXPECT_FALSE(best().suspect);
}

// Nothing reads faster than the baseline then; what was found is there when it is quiet.
TEST_F(LoopEnd, WhatOtherProgramsHidIsFoundWhenTheyAreGone) {
  laboratory_.others_take = 0.95;
  work();
  EXPECT_EQ(run_.best, root_node) << "nothing is claimed";
  const auto seems_faster = std::ranges::count_if(
      journal_.nodes, [](const Node& node) { return node.speedup < 1 && node.likely > 2; });
  EXPECT_GT(seems_faster, 0);
  laboratory_.others_take = 0;
  confirm();
  EXPECT_THAT(journal_.sources.at(best().source_hash), HasSubstr("int N = 4"));
  EXPECT_TRUE(best().confirmed);
  EXPECT_EQ(best().likely, 0) << "it was quiet";
}

TEST_F(LoopEnd, ConfirmingTriesNothingNewAndLeavesAStoppedRunAsItWas) {
  work();
  const std::size_t nodes = journal_.nodes.size();
  const NodeId before = run_.best;
  const std::string ended_because = run_.ended_because;
  laboratory_.judged = 0;
  laboratory_.stop_after = 1;
  confirm();
  EXPECT_EQ(run_.state, RunState::finished);
  EXPECT_EQ(run_.best, before);
  EXPECT_EQ(run_.ended_because, ended_because);
  EXPECT_EQ(run_.final_phases, 1);
  EXPECT_EQ(journal_.nodes.size(), nodes);
}

TEST_F(LoopEnd, FinalistsThatAreAwaitedAreAllAskedForAtOnce) {
  work();
  const NodeId before = best_;
  const auto asked = static_cast<std::size_t>(laboratory_.final_jobs);
  ASSERT_GT(asked, 1U);
  SlowLaboratory slow(laboratory_);
  work_with(slow, {journal_.nodes, journal_.closures}, nullptr, true);
  EXPECT_EQ(run_.state, RunState::waiting);
  EXPECT_EQ(slow.asked(), asked);
  slow.deliver(1);
  work_with(slow, {journal_.nodes, journal_.closures}, nullptr, true);
  EXPECT_EQ(run_.state, RunState::waiting);
  slow.deliver(asked);
  work_with(slow, {journal_.nodes, journal_.closures}, nullptr, true);
  EXPECT_EQ(run_.state, RunState::finished);
  EXPECT_EQ(best_, before);
  EXPECT_EQ(run_.final_phases, 2);
}

}  // namespace
}  // namespace kernelpro
