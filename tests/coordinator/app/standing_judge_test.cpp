// A worker that answers what was written down, and says of its machine what it likes.
#include "coordinator/app/standing_judge.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "common/wire/json.hpp"
#include "common/wire/orders_json.hpp"
#include "common/wire/samples.hpp"
#include "common/wire/worker_line.hpp"
#include "coordinator/task/load.hpp"

namespace kernelpro {
namespace {

using ::testing::HasSubstr;
using testing::sample_machine;

class StandingJudgeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<Task> task = load_task(KERNELPRO_SOURCE_DIR "/tests/cli/data/wave");
    ASSERT_TRUE(task.ok()) << task.error().text();
    order_.task = std::move(*task);
    order_.source = "int kp_launch();\nint x;\n";
    order_.timed = false;
  }

  // What comes of an order whose worker was described as `described` and judged on `judged_on`.
  Result<Evaluated> judged(const MachineRecord& described, const MachineRecord& judged_on) const {
    const nlohmann::json description =
        to_json(WorkerDescription{KERNELPRO_VERSION, described, {}, {}, {}});
    Opened opened;
    opened.task_hash = task_hash(order_.task);
    const std::string lines = *reply_line(1, description) + *reply_line(2, description) +
                              *reply_line(3, to_json(opened)) +
                              *reply_line(4, to_json(evaluated(judged_on)));
    const std::filesystem::path answers = folder_->path() / "answers";
    EXPECT_TRUE(write_file_unsynced(answers, lines).ok());
    WorkerPlace place;
    place.command =
        "n=0; while read -r line; do n=$((n + 1)); sed -n ${n}p " + answers.string() + "; done";
    StandingJudge judge(place, JudgingSettings());
    const Result<WorkerDescription> known = judge.describe({});
    return known ? judge.judge(order_, {}, {}) : Result<Evaluated>(known.error());
  }

  [[nodiscard]] Evaluated evaluated(const MachineRecord& machine) const {
    Evaluated out;
    Certificate& certificate = out.certificate;
    certificate.task = order_.task;
    certificate.task_hash = task_hash(order_.task);
    certificate.candidate = *standing_candidates(order_)->candidate;
    certificate.machine = machine;
    certificate.sandbox = "landlock";
    certificate.verdict.outcome = Outcome::passed;
    return out;
  }

  Result<ScratchDir> folder_ = ScratchDir::create("standing-judge");
  StandingOrder order_;
};

TEST_F(StandingJudgeTest, AWorkerIsBelievedOnTheMachineThatItDescribed) {
  MachineRecord later = sample_machine();
  later.clocks_mhz = {{"cpu0", 800}};  // they change from moment to moment
  const Result<Evaluated> done = judged(sample_machine(), later);
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_EQ(done->certificate.verdict.outcome, Outcome::passed);
}

TEST_F(StandingJudgeTest, AWorkerThatJudgedOnAnotherMachineIsLost) {
  MachineRecord processor = sample_machine();
  processor.processor = "Other CPU";
  MachineRecord cores = sample_machine();
  cores.cores = 64;
  MachineRecord device = sample_machine();
  device.gpus[0].name = "Other GPU";
  for (const MachineRecord& other : {processor, cores, device}) {
    const Result<Evaluated> done = judged(sample_machine(), other);
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().kind, ErrorKind::lost);
    EXPECT_THAT(done.error().text(), HasSubstr("it judged on another machine than it described"));
  }
}

}  // namespace
}  // namespace kernelpro
