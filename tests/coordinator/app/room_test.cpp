// The use cases without a command line: this program links nothing of coordinator/cli. It lies
// beside the worker, as every program does that judges.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "common/base/file.hpp"
#include "coordinator/app/evaluate.hpp"
#include "coordinator/app/export_run.hpp"
#include "coordinator/app/optimize.hpp"
#include "coordinator/app/runs.hpp"
#include "support/environment.hpp"
#include "support/leftovers.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* wave = KERNELPRO_SOURCE_DIR "/tests/cli/data/wave";
constexpr const char* fast = KERNELPRO_SOURCE_DIR "/tests/cli/data/fast.cpp";

// What this process and its children print while this lives goes into a file.
class Printed {
 public:
  explicit Printed(const fs::path& file)
      : file_(file), output_(::dup(STDOUT_FILENO)), errors_(::dup(STDERR_FILENO)) {
    std::fflush(stdout);
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    ::dup2(fd, STDOUT_FILENO);
    ::dup2(fd, STDERR_FILENO);
    ::close(fd);
  }
  Printed(const Printed&) = delete;
  Printed& operator=(const Printed&) = delete;
  ~Printed() {
    std::fflush(stdout);
    ::dup2(output_, STDOUT_FILENO);
    ::dup2(errors_, STDERR_FILENO);
    ::close(output_);
    ::close(errors_);
  }
  [[nodiscard]] std::string text() const {
    std::fflush(stdout);
    return read_file(file_).value();
  }

 private:
  fs::path file_;
  int output_;
  int errors_;
};

// Asks for a stop from a thread of its own, as a server does, once so many nodes have ended.
class Canceller {
 public:
  explicit Canceller(int after)
      : after_(after), thread_([this] {
          std::unique_lock lock(mutex_);
          enough_.wait(lock, [this] { return ended_ >= after_; });
          stop_.request_stop();
        }) {}

  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }
  [[nodiscard]] Watcher watcher() {
    return [this](const Event& event) {
      const auto* progress = std::get_if<LoopProgress>(&event);
      if (progress != nullptr && progress->last != nullptr) {
        const std::lock_guard lock(mutex_);
        ++ended_;
        enough_.notify_one();
      }
    };
  }
  // Also where the run ended before: the thread must not wait for ever.
  void end() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = after_;
      enough_.notify_one();
    }
    thread_.join();
  }

 private:
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable enough_;
  int ended_ = 0;
  int after_;
  std::thread thread_;
};

// The nodes of a run that were judged, with their verdicts.
std::set<std::pair<NodeId, std::string>> judged(const RunReport& report) {
  std::set<std::pair<NodeId, std::string>> out;
  for (const Node& node : report.nodes) {
    if (node.state == NodeState::judged) {
      out.emplace(node.id, name_of(node.outcome));
    }
  }
  return out;
}

class Room : public ::testing::Test {
 protected:
  // Short rounds: what is tested here is not the clock.
  [[nodiscard]] OptimizeRequest wave_run(std::int64_t evaluations) const {
    OptimizeRequest request;
    request.task = wave;
    request.store = store();
    request.settings.evaluations = evaluations;
    request.settings.judging.timing_seconds = 0.02;
    request.settings.tiers = {"build"};
    request.settings.accept_suspect = true;
    return request;
  }
  [[nodiscard]] static EvaluationRequest untimed(std::vector<std::string> sources) {
    EvaluationRequest request;
    request.task = wave;
    request.sources = std::move(sources);
    request.timed = false;
    return request;
  }
  [[nodiscard]] fs::path folder() const { return folder_->path(); }
  [[nodiscard]] fs::path store() const { return folder() / "store"; }

 private:
  Result<ScratchDir> folder_ = ScratchDir::create("room-test");
  ScopedVariable cache_{"KERNELPRO_CACHE", KERNELPRO_BUILD_DIR "/test-cache"};
  testing::OwnLock lock_;  // of all workers of a case: no speed decides here
};

TEST_F(Room, ARunIsStoppedByAnotherThreadTakenUpAndTakenHomeAndNothingIsPrinted) {
  const Printed printed(folder() / "printed");

  Canceller canceller(2);
  const Result<RunOutcome> cut = optimize(wave_run(6), canceller.watcher(), canceller.token());
  canceller.end();
  ASSERT_TRUE(cut.ok()) << cut.error().text();
  EXPECT_TRUE(cut->stopped);
  EXPECT_FALSE(cut->error) << cut->error->text();
  EXPECT_EQ(cut->report.run.state, RunState::interrupted);
  EXPECT_LT(cut->report.evaluations, 6);
  EXPECT_THAT(judged(cut->report), Not(IsEmpty()));

  std::vector<std::string> told;
  const Watcher watcher = [&told](const Event& event) {
    if (const auto* begun = std::get_if<RunBegun>(&event)) {
      told.push_back(begun->run + " of " + begun->task + " in " + begun->store.string());
    }
  };
  const Result<RunOutcome> done = resume({store(), cut->report.run.id, {}}, watcher, {});
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_FALSE(done->stopped);
  EXPECT_FALSE(done->error) << done->error->text();
  EXPECT_EQ(done->report.run.state, RunState::finished);
  EXPECT_EQ(done->report.evaluations, 6);
  EXPECT_THAT(judged(done->report), IsSupersetOf(judged(cut->report)));
  EXPECT_THAT(told, Contains("wave-1 of wave in " + store().string()));

  const Result<ShownNode> shown = show_node({store(), "wave-1", 1});
  ASSERT_TRUE(shown.ok()) << shown.error().text();
  EXPECT_TRUE(shown->certificate);
  EXPECT_THAT(shown->source.value_or(""), HasSubstr("kp_launch"));
  ExportRequest home;
  home.what = {store(), "wave-1", 0};
  home.directory = folder() / "out";
  const Result<Exported> exported = export_run(home);
  ASSERT_TRUE(exported.ok()) << exported.error().text();
  EXPECT_THAT(exported->files, Contains("kernel.cpp"));

  EXPECT_EQ(printed.text(), "");
}

// A worker like any other, started by a command. It takes turns with the local one for the clock.
const std::string other_worker = KERNELPRO_BIN_DIR "/kernelpro-worker";

WorkerPlace place_of(const std::string& command) {
  return {.command = command, .device = {}};
}

TEST_F(Room, TwoWorkersDoOneRun) {
  const fs::path asked = folder() / "asked";
  OptimizeRequest request = wave_run(6);
  request.settings.workers.places.push_back(
      place_of("tee -a " + asked.string() + " | " + other_worker));
  const Result<RunOutcome> done = optimize(request, {}, {});
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_FALSE(done->error) << done->error->text();
  EXPECT_EQ(done->report.run.state, RunState::finished);
  EXPECT_EQ(done->report.evaluations, 6);
  EXPECT_EQ(done->report.run.settings.in_flight, 4);
  EXPECT_EQ(done->report.run.settings.step, 1);
  EXPECT_THAT(read_file(asked).value(), HasSubstr("\"op\":\"evaluate\""));
}

TEST_F(Room, AWorkerThatDiesGivesItsJobBack) {
  // It sees three lines and then the end of its input, each time it is started.
  const Result<RunOutcome> done = [this] {
    OptimizeRequest request = wave_run(6);
    request.settings.workers.places.push_back(place_of("sed -u 3q | " + other_worker));
    return optimize(request, {}, {});
  }();
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_FALSE(done->error) << done->error->text();
  EXPECT_EQ(done->report.run.state, RunState::finished);
  EXPECT_EQ(done->report.evaluations, 6);
}

TEST_F(Room, AWorkerThatIsLostForGoodIsLeftOutAndTheEndSaysSo) {
  const fs::path once = folder() / "once";
  std::vector<std::string> remarks;
  const Watcher watcher = [&remarks](const Event& event) {
    if (const auto* remark = std::get_if<Remark>(&event)) {
      remarks.push_back(remark->text);
    }
  };
  OptimizeRequest request = wave_run(6);
  // The second time there is nobody.
  request.settings.workers.places.push_back(
      place_of("mkdir " + once.string() + " 2>&- && sed -u 2q | " + other_worker));
  const Result<RunOutcome> done = optimize(request, watcher, {});
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_FALSE(done->error) << done->error->text();
  EXPECT_EQ(done->report.evaluations, 6);
  EXPECT_THAT(remarks, Contains(::testing::AllOf(HasSubstr("the worker of \"mkdir "),
                                                 HasSubstr(" is lost: "))));
}

TEST_F(Room, AWorkerThatDoesNotStartIsNamed) {
  OptimizeRequest request = wave_run(6);
  request.settings.workers.places.push_back(place_of("/no/such/worker 2>&-"));
  const Result<RunOutcome> done = optimize(request, {}, {});
  ASSERT_TRUE(done.ok()) << done.error().text();
  ASSERT_TRUE(done->error);
  EXPECT_THAT(done->error->text(), HasSubstr("the worker of \"/no/such/worker 2>&-\""));
}

TEST_F(Room, AWorkerThatDoesNotAnswerIsNotWaitedForForEver) {
  const ScopedVariable soon{"KERNELPRO_WORKER_TIMEOUT_MS", "500"};
  EvaluationRequest request = untimed({fast});
  request.workers.places = {place_of("sleep 1000")};
  const Result<EvaluationResult> done = evaluate(request, {}, {});
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().text(),
              ::testing::AllOf(HasSubstr("sleep 1000"), HasSubstr("did not answer within 500 ms")));
}

TEST_F(Room, WorkersThatWouldWaitForEachOtherAreRefused) {
  OptimizeRequest request = wave_run(6);
  request.settings.workers.places.emplace_back();
  const Result<RunOutcome> twice = optimize(request, {}, {});
  ASSERT_FALSE(twice.ok());
  EXPECT_THAT(twice.error().text(), HasSubstr("would wait for each other"));
  request.settings.workers.places = {{.command = {}, .device = 1}};
  const Result<RunOutcome> gpu = optimize(request, {}, {});
  ASSERT_FALSE(gpu.ok());
  EXPECT_THAT(gpu.error().text(), HasSubstr("local:1 names a GPU, and the backend is cpu"));
}

TEST_F(Room, AnEvaluationIsDoneByOneWorkerWhereverItIs) {
  EvaluationRequest request = untimed({fast});
  request.workers.places = {place_of(other_worker)};
  const Result<EvaluationResult> done = evaluate(request, {}, {});
  ASSERT_TRUE(done.ok()) << done.error().text();
  ASSERT_THAT(done->evaluations, SizeIs(1));
  EXPECT_EQ(done->evaluations[0].certificate.verdict.outcome, Outcome::passed);
  request.workers.places.emplace_back();
  const Result<EvaluationResult> two = evaluate(request, {}, {});
  ASSERT_FALSE(two.ok());
  EXPECT_THAT(two.error().text(), HasSubstr("by one worker"));
}

TEST_F(Room, AStopBeforeTheBeginningIsAnErrorOfThatKind) {
  std::stop_source stop;
  stop.request_stop();
  const Result<EvaluationResult> stopped = evaluate(untimed({fast}), {}, stop.get_token());
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().kind, ErrorKind::interrupted);
}

TEST_F(Room, CandidatesAreJudgedInTheirOrderAndEachStepIsTold) {
  std::vector<std::string> doing;
  const Watcher watcher = [&doing](const Event& event) {
    if (const auto* activity = std::get_if<Activity>(&event)) {
      doing.push_back(activity->text);
    }
  };
  const Result<EvaluationResult> done = evaluate(untimed({fast, "plain"}), watcher, {});
  ASSERT_TRUE(done.ok()) << done.error().text();
  ASSERT_THAT(done->evaluations, SizeIs(2));
  EXPECT_EQ(done->evaluations[0].certificate.verdict.outcome, Outcome::passed);
  EXPECT_FALSE(done->error);
  EXPECT_THAT(doing, Contains(HasSubstr("wave 1/2 fast: ")));
}

}  // namespace
}  // namespace kernelpro
