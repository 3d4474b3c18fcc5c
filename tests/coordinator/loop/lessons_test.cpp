// What other runs have learned changes what is tried first, and nothing else.
#include <memory>

#include "coordinator/loop/loop_fixture.hpp"

namespace kernelpro {
namespace {

using ::testing::ElementsAre;

class Told : public LessonSource {
 public:
  Recollection recall(const Certificate& /*baseline*/) override {
    ++asked;
    return recollection;
  }

  void say(const std::string& move, double useful, std::int64_t tried = 4) {
    Recalled one;
    one.id = std::ssize(recollection.lessons) + 1;
    one.bottleneck = "unknown";
    one.move = move;
    one.tally.tried = tried;
    one.tally.mean = useful;
    one.tally.useful = useful;
    recollection.memory = "a memory";
    recollection.lessons.push_back(one);
  }

  Recollection recollection;
  int asked = 0;
};

class LessonsInTheLoop : public LoopTest {
 protected:
  LessonsInTheLoop() {
    run_.settings.search = "greedy";
    run_.settings.in_flight = 1;
  }

  void work_told(const LoopHistory& history = {}) {
    PlaybookSettings settings;
    settings.moves = folder_->path();
    const Result<Playbook> playbook = Playbook::load(settings);
    ASSERT_TRUE(playbook) << playbook.error().text();
    const Result<std::unique_ptr<Search>> search =
        make_search(run_.settings.search, run_.settings.preset, run_.settings.seed);
    ASSERT_TRUE(search);
    ClosedLoop loop(run_, **search, *playbook, laboratory_, journal_, {}, nullptr, &told_);
    const Status worked = loop.work(history, laboratory_.stop.get_token());
    ASSERT_TRUE(worked) << worked.error().text();
    best_ = loop.best();
  }

  [[nodiscard]] std::vector<std::string> moves() const {
    std::vector<std::string> out;
    for (const Node& node : journal_.nodes) {
      out.push_back(node.move);
    }
    return out;
  }

  // How many were judged before the one with both options that help.
  [[nodiscard]] std::int64_t tries_to_the_best() const {
    std::int64_t tries = 0;
    for (const Node& node : journal_.nodes) {
      if (node.speedup >= 2.9) {
        return tries;
      }
      ++tries;
    }
    return 1000;
  }

  Told told_;
};

TEST_F(LessonsInTheLoop, WhatGainedElsewhereIsTriedFirst) {
  run_.settings.evaluations = 3;
  work_told();
  const std::vector<std::string> without = moves();
  journal_.clear();
  told_.say("tracer", 0.5);
  told_.say("o3", 0.4);
  told_.say("web", 0.0);
  told_.say("wrong", 0.0);
  work_told();
  EXPECT_NE(moves(), without);
  EXPECT_THAT(moves(), ElementsAre("", "tracer", "o3", "same", "tune"));
  EXPECT_EQ(journal_.told->lessons.size(), 4U);
}

TEST_F(LessonsInTheLoop, GoodLessonsSaveEvaluationsAndInvertedOnesCostNothingElse) {
  run_.settings.evaluations = 12;
  work_told();
  const std::int64_t without = tries_to_the_best();
  journal_.clear();
  told_.say("tracer", 0.4);
  told_.say("o3", 0.7);
  for (const char* move : {"web", "wrong", "same"}) {
    told_.say(move, 0.0);
  }
  work_told();
  const std::int64_t with = tries_to_the_best();
  journal_.clear();
  told_.recollection = {};
  told_.say("tracer", 0.0);
  told_.say("o3", 0.0);
  for (const char* move : {"web", "wrong", "same"}) {
    told_.say(move, 0.7);
  }
  work_told();
  EXPECT_EQ(with, 2);
  EXPECT_LT(with, without);
  EXPECT_GT(tries_to_the_best(), with);
  EXPECT_NEAR(best().speedup, 4.2, 0.01);
}

TEST_F(LessonsInTheLoop, FindingsOfAToolThatDidNotPayPromiseLess) {
  run_.settings.evaluations = 3;
  run_.settings.judging.backend = Backend::cuda;
  run_.task.baselines.front().backend = Backend::cuda;
  Finding finding;
  finding.tool = "bank_conflicts";
  finding.moves = {"tracer"};
  finding.predicted_gain = 3;
  laboratory_.diagnosis = DiagnosisReport{};
  laboratory_.diagnosis->kind = KernelClass::l1;
  laboratory_.diagnosis->findings = {finding};
  ToolRecord record;
  record.tool = "bank_conflicts";
  record.passed = 50;
  record.log_predicted = 50;
  told_.recollection.tools = {record};
  work_told();
  ASSERT_NE(best_, root_node);
  ASSERT_EQ(best().diagnosis.findings.size(), 1U);
  EXPECT_EQ(best().diagnosis.findings[0].derived_gain, 3);
  EXPECT_LT(best().diagnosis.findings[0].predicted_gain, 1.2);
}

TEST_F(LessonsInTheLoop, ARunThatGoesOnIsToldWhatItWasToldBefore) {
  run_.settings.evaluations = 8;
  told_.say("tracer", 0.5);
  told_.say("web", 0.6);
  work_told();
  const std::vector<std::string> whole = moves();
  journal_.clear();
  run_.state = RunState::running;
  laboratory_.judged = 0;
  laboratory_.stop_after = 4;
  work_told();
  const LoopHistory history{journal_.nodes, journal_.closures, journal_.told};
  laboratory_.stop = std::stop_source();
  laboratory_.stop_after = 0;
  // By now the memory says something else.
  told_.recollection = {};
  told_.say("same", 2);
  told_.asked = 0;
  work_told(history);
  EXPECT_EQ(told_.asked, 0);
  EXPECT_EQ(moves(), whole);
}

TEST_F(LessonsInTheLoop, AMemoryThatKnowsNothingChangesNothing) {
  work_told();
  const std::vector<std::string> empty = moves();
  EXPECT_EQ(told_.asked, 1);
  journal_.clear();
  work();
  EXPECT_EQ(moves(), empty);
}

}  // namespace
}  // namespace kernelpro
