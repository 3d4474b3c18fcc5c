// A worker that answers something else than it was asked is not believed.
#include "coordinator/dispatch/worker_client.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "common/wire/json.hpp"
#include "common/wire/orders_json.hpp"
#include "common/wire/samples.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::sample_candidate;
using testing::sample_certificate;
using testing::sample_task;

class AnsweringWorker : public ::testing::Test {
 protected:
  AnsweringWorker() {
    open_.task = sample_task();
    open_.judging.threads = 3;
    evaluate_.candidate = sample_candidate("mine");
    evaluate_.incumbent = sample_certificate().incumbent;
    opened_.task_hash = task_hash(open_.task);
    evaluated_.certificate = sample_certificate();
    evaluated_.certificate.task = open_.task;
    evaluated_.certificate.task_hash = task_hash(open_.task);
    evaluated_.certificate.candidate = *evaluate_.candidate;
    evaluated_.certificate.build.includes.clear();
    evaluated_.certificate.verdict.timing.brief = false;
  }

  // How an evaluation ends with a worker that gives these two answers, whatever it is asked.
  [[nodiscard]] Result<Evaluated> judged(const std::string& first,
                                         const std::string& second) const {
    const fs::path program = folder_->path() / "worker";
    const fs::path answers = folder_->path() / "answers";
    EXPECT_TRUE(write_file_unsynced(answers, first + second).ok());
    EXPECT_TRUE(write_file_unsynced(program, "#!/bin/sh\nread -r line\ncat " + answers.string() +
                                                 "\nread -r line\n")
                    .ok());
    fs::permissions(program, fs::perms::owner_all);
    Result<WorkerClient> worker = WorkerClient::start(program);
    if (!worker) {
      return worker.error();
    }
    const Result<Opened> opened = worker->open(open_);
    return opened ? worker->evaluate(evaluate_) : opened.error();
  }

  [[nodiscard]] Result<Evaluated> judged() const {
    return judged(*reply_line(1, to_json(opened_)), *reply_line(2, to_json(evaluated_)));
  }

  void expect_lost(const std::string& what) const {
    const Result<Evaluated> answer = judged();
    ASSERT_FALSE(answer.ok()) << what;
    EXPECT_EQ(answer.error().kind, ErrorKind::lost);
    EXPECT_EQ(answer.error().text(),
              "worker: this answers another order: " + what + " is not what was asked for");
  }

  Result<ScratchDir> folder_ = ScratchDir::create("worker-client-test");
  OpenOrder open_;
  EvaluateOrder evaluate_;
  Opened opened_;
  Evaluated evaluated_;
};

TEST_F(AnsweringWorker, IsBelievedWhenItAnswersWhatWasAsked) {
  const Result<Evaluated> answer = judged();
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(answer->certificate.candidate.source, evaluate_.candidate->source);
}

TEST_F(AnsweringWorker, IsLostWhenItOpenedAnotherTask) {
  opened_.task_hash = "ab12";
  expect_lost("the task");
}

TEST_F(AnsweringWorker, IsLostWhenItJudgedAnotherTask) {
  evaluated_.certificate.task.name = "other";
  expect_lost("the task (other)");
}

TEST_F(AnsweringWorker, IsLostWhenItJudgedAnotherCandidate) {
  evaluated_.certificate.candidate.source += " ";
  expect_lost("the candidate (mine)");
}

TEST_F(AnsweringWorker, IsLostWhenItJudgedAgainstAnotherIncumbent) {
  evaluated_.certificate.incumbent.source += " ";
  expect_lost("the incumbent (" + evaluated_.certificate.incumbent.name + ")");
}

TEST_F(AnsweringWorker, IsLostWhenItJudgedWithOtherSettings) {
  evaluated_.certificate.sandbox = "none";
  expect_lost("the sandbox (none)");
  evaluated_.certificate.threads = 4;
  expect_lost("the number of threads (4)");
}

TEST_F(AnsweringWorker, IsLostWhenItJudgedWithAnotherKey) {
  evaluate_.master = testing::sample_certificate().master;
  evaluated_.certificate.master = Key();
  expect_lost("the master key");
}

TEST_F(AnsweringWorker, IsLostWhenItTimedWhatWasNotToBeTimed) {
  evaluate_.timed = false;
  expect_lost("a timing");
}

// A search's brief look confirms nothing.
TEST_F(AnsweringWorker, IsLostWhenItLookedBrieflyThoughAskedForMore) {
  evaluated_.certificate.verdict.timing.brief = true;
  evaluate_.brief = true;
  EXPECT_TRUE(judged().ok());
  evaluate_.brief = false;
  expect_lost("a brief timing");
}

TEST_F(AnsweringWorker, IsLostWhenALineWasChangedOnTheWay) {
  std::string line = *reply_line(1, to_json(opened_));
  line[line.find("task_hash") + 13] ^= 1;
  const Result<Evaluated> answer = judged(line, "");
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, ErrorKind::lost);
  EXPECT_THAT(answer.error().text(), HasSubstr("its checksum does not fit"));
}

}  // namespace
}  // namespace kernelpro
