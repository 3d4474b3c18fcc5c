// Many workers, answers in any order: the run is the same.
#include <atomic>
#include <mutex>
#include <random>
#include <thread>

#include "coordinator/loop/loop_fixture.hpp"

namespace kernelpro {
namespace {

// Several workers that take differently long each time, and what they are asked.
class BusyLaboratory : public Laboratory {
 public:
  BusyLaboratory(int workers, unsigned seed) : workers_(workers), random_(seed) {}

  [[nodiscard]] int workers() const override { return workers_; }
  [[nodiscard]] bool times_here() const override { return exclusive; }

  Result<std::vector<BuildSummary>> build(const std::vector<Candidate>& candidates,
                                          std::stop_token token) override {
    builds_beside_timings += judging_ > 0 ? 1 : 0;
    return formula_.build(candidates, token);
  }

  Result<std::optional<Evaluated>> judge(const Job& job, std::stop_token) override {
    ++judging_;
    if (job.phase > 0) {
      most_finalists_at_once = std::max(++finalists_, most_finalists_at_once.load());
      wait_for_company();
    }
    std::this_thread::sleep_for(pause());
    finalists_ -= job.phase > 0 ? 1 : 0;
    const std::lock_guard lock(mutex_);
    most_at_once = std::max(most_at_once, judging_.load());
    jobs.push_back(job);
    incumbents[job.node] = job.incumbent ? job.incumbent->name : "plain";
    if (stop_after > 0 && std::ssize(jobs) == stop_after) {
      stop.request_stop();
    }
    Evaluated answer = formula_.verdict_on(job);
    --judging_;
    return std::optional(std::move(answer));
  }

  int stop_after = 0;
  bool exclusive = false;
  int most_at_once = 0;
  std::atomic<int> most_finalists_at_once = 0;
  int company = 1;  // a finalist waits until so many have been there at once
  std::atomic<int> builds_beside_timings = 0;
  std::vector<Job> jobs;
  std::map<NodeId, std::string> incumbents;
  std::stop_source stop;

 private:
  void wait_for_company() const {
    constexpr int patience = 10'000;
    for (int i = 0; i < patience && most_finalists_at_once < company; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  std::chrono::microseconds pause() {
    const std::lock_guard lock(mutex_);
    return std::chrono::microseconds(random_() % 2000);
  }

  int workers_;
  std::mutex mutex_;
  std::mt19937 random_;
  std::atomic<int> judging_ = 0;
  std::atomic<int> finalists_ = 0;
  FormulaLaboratory formula_;
};

std::vector<std::string> tree_of(const std::vector<Node>& nodes) {
  std::vector<std::string> out;
  for (const Node& node : nodes) {
    out.push_back(std::to_string(node.parent) + " " + node.move + " " + node.candidate_key + " " +
                  std::string(name_of(node.state)) + " " + std::to_string(node.same_as) + " " +
                  std::to_string(node.born) + " " + std::to_string(node.ended) + " " +
                  std::to_string(node.speedup));
  }
  return out;
}

class LoopOfMany : public LoopTest {
 protected:
  LoopOfMany() {
    run_.settings.evaluations = 30;
    run_.settings.in_flight = 6;
    run_.settings.step = 1;
  }

  [[nodiscard]] std::set<NodeId> answered() const {
    std::set<NodeId> nodes;
    for (const auto& [node, certificate] : journal_.certificates) {
      nodes.insert(node);
    }
    return nodes;
  }

  void work_by(BusyLaboratory& laboratory) {
    work_with(laboratory, {journal_.nodes, journal_.closures}, nullptr, false,
              laboratory.stop.get_token());
  }
};

TEST_F(LoopOfMany, TheTreeIsTheSameWhateverTheirNumberAndTheOrderOfTheirAnswers) {
  BusyLaboratory alone(1, 1);
  work_by(alone);
  const std::vector<std::string> tree = tree_of(journal_.nodes);
  EXPECT_EQ(charged(), 30);
  for (const int workers : {2, 4, 6}) {
    for (const unsigned seed : {7U, 8U, 9U}) {
      journal_.clear();
      BusyLaboratory many(workers, seed);
      work_by(many);
      EXPECT_GT(many.most_at_once, 1);
      EXPECT_EQ(tree_of(journal_.nodes), tree);
      for (const auto& [node, incumbent] : many.incumbents) {
        EXPECT_EQ(incumbent, alone.incumbents.at(node)) << node;
      }
    }
  }
}

TEST_F(LoopOfMany, WhatWasAnsweredBeforeAStopIsNotAskedForAgainAndTheTreeIsTheSame) {
  BusyLaboratory alone(1, 1);
  work_by(alone);
  const std::vector<std::string> tree = tree_of(journal_.nodes);
  for (const int stop_after : {3, 10, 17, 24}) {
    journal_.clear();
    BusyLaboratory stopped(4, 5);
    stopped.stop_after = stop_after;
    work_by(stopped);
    ASSERT_EQ(run_.state, RunState::interrupted);
    const std::set<NodeId> kept = answered();
    BusyLaboratory again(3, 6);
    work_by(again);
    EXPECT_EQ(run_.state, RunState::finished);
    EXPECT_EQ(tree_of(journal_.nodes), tree) << stop_after;
    for (const Job& job : again.jobs) {
      EXPECT_TRUE(job.phase > 0 || !kept.contains(job.node)) << job.node;
    }
  }
}

TEST_F(LoopOfMany, EachProposalKnowsWhatHadEndedAndNothingElse) {
  BusyLaboratory many(6, 3);
  work_by(many);
  for (const Node& node : journal_.nodes) {
    for (const Node& other : journal_.nodes) {
      // At most six are under way.
      EXPECT_TRUE(other.id + 6 > node.id || other.ended < node.born) << node.id << other.id;
      EXPECT_TRUE(other.id < node.id || other.ended > node.born) << node.id << other.id;
    }
  }
}

TEST_F(LoopOfMany, NothingIsBuiltBesideATimingOnTheSameProcessors) {
  BusyLaboratory many(2, 3);
  many.exclusive = true;
  work_by(many);
  EXPECT_EQ(many.builds_beside_timings, 0);
  EXPECT_EQ(charged(), 30);
}

TEST_F(LoopOfMany, FinalistsAreMeasuredSideBySideAndTheBestIsTheSame) {
  BusyLaboratory alone(1, 1);
  work_by(alone);
  const NodeId best = run_.best;
  EXPECT_EQ(alone.most_finalists_at_once, 1);
  journal_.clear();
  BusyLaboratory many(4, 2);
  many.company = 2;
  work_by(many);
  EXPECT_GE(many.most_finalists_at_once, 2);
  EXPECT_EQ(run_.best, best);
}

}  // namespace
}  // namespace kernelpro
