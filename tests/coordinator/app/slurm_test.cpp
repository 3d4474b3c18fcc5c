// Workers in jobs of a real cluster, small enough for one machine.
#include <gmock/gmock.h>

#include "coordinator/app/evaluate.hpp"
#include "coordinator/app/optimize.hpp"
#include "coordinator/app/worker_laboratory.hpp"
#include "coordinator/task/load.hpp"
#include "support/slurm_cluster.hpp"

namespace kernelpro {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using testing::SlurmCluster;

constexpr const char* wave_task = KERNELPRO_SOURCE_DIR "/tests/cli/data/wave";
constexpr const char* fast_wave = KERNELPRO_SOURCE_DIR "/tests/cli/data/fast.cpp";

class Slurm : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = SlurmCluster::missing(); !missing.empty()) {
      GTEST_SKIP() << missing;
    }
    cluster_.emplace();
    ASSERT_EQ(cluster_->nodes_in("idle"), 3);
  }
  void TearDown() override {
    if (cluster_) {
      EXPECT_TRUE(SlurmCluster::wait_for([this] { return cluster_->jobs("RUNNING").empty(); }));
      EXPECT_THAT(cluster_->jobs("PENDING"), IsEmpty());
    }
  }

  [[nodiscard]] static Result<EvaluationResult> judged(const std::string& workers,
                                                       bool timed = false,
                                                       std::stop_token stop = {}) {
    EvaluationRequest request;
    request.task = wave_task;
    request.sources = {fast_wave};
    request.timed = timed;
    request.judging.timing_seconds = 0.02;
    request.workers = parse_workers("slurm:" + workers).value();
    return evaluate(request, {}, std::move(stop));
  }
  [[nodiscard]] static std::string error_of(const Result<EvaluationResult>& result) {
    return result ? "" : result.error().text();
  }

  std::optional<SlurmCluster> cluster_;

 private:
  Result<ScratchDir> folder_ = ScratchDir::create("slurm-test");
  ScopedVariable cache_{"KERNELPRO_CACHE", KERNELPRO_BUILD_DIR "/test-cache"};
  testing::OwnLock lock_;

 protected:
  [[nodiscard]] std::filesystem::path store() const { return folder_->path() / "store"; }
};

TEST_F(Slurm, AnEvaluationIsDoneOnANodeAndTheNodeIsGivenBack) {
  const Result<EvaluationResult> done = judged("partition=main,nodelist=n2,time=5:00");
  ASSERT_TRUE(done.ok()) << done.error().text();
  ASSERT_FALSE(done->error) << done->error->text();
  ASSERT_THAT(done->evaluations, SizeIs(1));
  EXPECT_EQ(done->evaluations[0].certificate.verdict.outcome, Outcome::passed);
  EXPECT_FALSE(done->evaluations[0].certificate.verdict.suspect);
  EXPECT_TRUE(SlurmCluster::wait_for([this] { return cluster_->nodes_in("idle") == 3; }));
  EXPECT_THAT(cluster_->jobs(), ElementsAre(AllOf(HasSubstr(" n2 "), EndsWith(" COMPLETED"))));
}

TEST_F(Slurm, ARequestThatTheClusterRefusesIsAnErrorInItsWords) {
  EXPECT_THAT(error_of(judged("partition=moon")),
              AllOf(HasSubstr("slurm refused the job"), HasSubstr("Invalid partition name")));
  EXPECT_THAT(error_of(judged("constraint=moon")), HasSubstr("Invalid feature specification"));
  EXPECT_THAT(error_of(judged("time=moon")), HasSubstr("Invalid --time specification"));
  EXPECT_THAT(error_of(judged("worker=/no/such/worker")),
              AllOf(HasSubstr("job "), HasSubstr("/no/such/worker: No such file")));
  const ScopedVariable nowhere{"PATH", "/nowhere"};
  EXPECT_THAT(error_of(judged("")), HasSubstr("there is no srun in PATH"));
}

TEST_F(Slurm, AJobThatGetsNoNodeIsNotWaitedForForEver) {
  for (const char* node : SlurmCluster::nodes) {
    EXPECT_EQ(SlurmCluster::control(node, "drain"), "");
  }
  EXPECT_THAT(error_of(judged("wait=1")),
              AllOf(HasSubstr("PENDING ("), HasSubstr("no node within 1 s"), HasSubstr("wait=")));
  std::stop_source stop;
  std::jthread stopper([&] {
    SlurmCluster::wait_for([this] { return !cluster_->jobs("PENDING").empty(); });
    stop.request_stop();
  });
  const Result<EvaluationResult> stopped = judged("wait=1h", false, stop.get_token());
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().kind, ErrorKind::interrupted);
}

TEST_F(Slurm, WhatIsTimedOnANodeThatOthersMayUseIsSuspect) {
  for (const char* workers : {"partition=crowd", "shared"}) {
    const Result<EvaluationResult> done = judged(workers, true);
    ASSERT_TRUE(done.ok()) << done.error().text();
    ASSERT_THAT(done->evaluations, SizeIs(1));
    const Verdict& verdict = done->evaluations[0].certificate.verdict;
    EXPECT_EQ(verdict.outcome, Outcome::passed);
    EXPECT_TRUE(verdict.suspect) << workers;
    EXPECT_THAT(verdict.suspicions, Contains(HasSubstr("other jobs on the node")));
  }
}

TEST_F(Slurm, AWorkerWithoutWorkIsGivenBackAndAskedForAgain) {
  OpenOrder order;
  order.task = load_task(std::filesystem::path(wave_task) / "task.toml").value();
  order.judging.timing_seconds = 0.02;
  const std::unique_ptr<WorkerLaboratory> laboratory =
      WorkerLaboratory::open(parse_workers("slurm:idle=0,count=2").value().places, order, {}, {},
                             {})
          .value();
  EXPECT_TRUE(SlurmCluster::wait_for([this] { return cluster_->nodes_in("idle") == 3; }));
  EXPECT_THAT(cluster_->jobs(), ElementsAre(EndsWith(" COMPLETED")));  // the second was not needed
  Job job;
  job.candidate.name = "plain";
  job.candidate.source = order.task.files.at(order.task.baselines.front().file);
  const Result<std::optional<Evaluated>> answer = laboratory->judge(job, {});
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ((*answer)->certificate.verdict.outcome, Outcome::passed);
  EXPECT_TRUE(SlurmCluster::wait_for([this] { return cluster_->nodes_in("idle") == 3; }));
  EXPECT_THAT(cluster_->jobs(), SizeIs(2));
}

// What happens to a run's workers whenever one of its nodes has ended.
class Mishaps {
 public:
  explicit Mishaps(SlurmCluster& cluster) : cluster_(cluster) {}

  [[nodiscard]] Watcher watcher() {
    return [this](const Event& event) {
      const auto* const progress = std::get_if<LoopProgress>(&event);
      if (progress != nullptr && progress->last != nullptr) {
        happen(++ended_);
      }
    };
  }

 private:
  void happen(int number) {
    const auto [job, node] = cluster_.running_job();
    if (number == 1) {
      testing::run_and_read({"scancel", job});
    } else if (number == 2) {
      cluster_.cut_power(node, job);
    } else if (number == 3) {
      testing::run_and_read(
          {"srun", "--partition=urgent", "--exclusive", "--nodelist=" + node, "true"});
    } else if (number == 4) {
      (void)SlurmCluster::control(node, "drain");
    }
  }

  SlurmCluster& cluster_;
  int ended_ = 0;
};

TEST_F(Slurm, ARunOutlivesCanceledJobsDeadNodesPreemptionAndDraining) {
  OptimizeRequest request;
  request.task = wave_task;
  request.store = store();
  request.settings.evaluations = 8;
  request.settings.judging.timing_seconds = 0.02;
  request.settings.tiers = {"build"};
  request.settings.accept_suspect = true;
  request.settings.workers = parse_workers("slurm:partition=main,count=3").value();
  Mishaps mishaps(*cluster_);
  const Result<RunOutcome> done = optimize(request, mishaps.watcher(), {});
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_FALSE(done->error) << done->error->text();
  EXPECT_EQ(done->report.run.state, RunState::finished);
  EXPECT_EQ(done->report.evaluations, 8);
  for (const Node& node : done->report.nodes) {
    EXPECT_NE(node.outcome, Outcome::not_judged) << node.id;
  }
  const std::vector<std::string> jobs = cluster_->jobs();
  EXPECT_THAT(jobs, Contains(EndsWith(" CANCELLED")));
  EXPECT_THAT(jobs, Contains(EndsWith(" NODE_FAIL")));
  EXPECT_THAT(jobs, Contains(EndsWith(" PREEMPTED")));
  for (const char* node : SlurmCluster::nodes) {
    EXPECT_THAT(jobs, Contains(HasSubstr(std::string(" ") + node + " ")));
  }
}

}  // namespace
}  // namespace kernelpro
