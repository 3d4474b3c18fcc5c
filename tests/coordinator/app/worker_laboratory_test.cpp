// Workers that are no workers: each gives the answers in its file, whatever it is asked.
#include "coordinator/app/worker_laboratory.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "common/wire/json.hpp"
#include "common/wire/orders_json.hpp"
#include "common/wire/samples.hpp"

namespace kernelpro {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SeveralWorkers : public ::testing::Test {
 protected:
  SeveralWorkers() { order_.task = testing::sample_task(); }

  static WorkerDescription description_of(const std::string& device) {
    WorkerDescription description;
    description.version = KERNELPRO_VERSION;
    description.machine.processor = device;
    return description;
  }
  // A place whose worker describes itself so, opens that task, and describes itself again.
  [[nodiscard]] WorkerPlace place(const WorkerDescription& description,
                                  const std::string& task) const {
    const std::string device = description.machine.processor;
    Opened opened;
    opened.task_hash = task;
    std::string command;
    int id = 0;
    for (const nlohmann::json& answer :
         {to_json(description), to_json(opened), to_json(description)}) {
      ++id;
      command += "read -r line; cat " + file(device + std::to_string(id), answer, id) + "; ";
    }
    return {.command = command + "read -r line", .device = {}};
  }
  [[nodiscard]] WorkerPlace place(const std::string& device, const std::string& task) const {
    return place(description_of(device), task);
  }
  // A file with that answer, as a shell names it.
  [[nodiscard]] std::string file(const std::string& name, const nlohmann::json& answer,
                                 std::int64_t id) const {
    const std::filesystem::path path = folder_->path() / name;
    EXPECT_TRUE(write_file_unsynced(path, *reply_line(id, answer)).ok());
    return "'" + path.string() + "'";
  }
  [[nodiscard]] std::string error_of(const std::vector<WorkerPlace>& places) const {
    const auto opened = WorkerLaboratory::open(places, order_, {}, begun_on_, {});
    return opened ? "" : opened.error().text();
  }

  OpenOrder order_;
  std::optional<MachineRecord> begun_on_;
  Result<ScratchDir> folder_ = ScratchDir::create("laboratory-test");
};

TEST_F(SeveralWorkers, MustStandOnTheSameDevice) {
  const std::string task = task_hash(order_.task);
  EXPECT_THAT(error_of({place("A100", task), place("H200", task)}),
              AllOf(HasSubstr("different devices"), HasSubstr("A100"), HasSubstr("H200")));
}

TEST_F(SeveralWorkers, MustStandOnTheDeviceThatTheRunBeganOn) {
  const std::string task = task_hash(order_.task);
  begun_on_.emplace().processor = "H200";
  EXPECT_EQ(error_of({place("H200", task), place("H200", task)}), "");
  EXPECT_THAT(error_of({place("A100", task)}),
              HasSubstr("the run began on H200, 0 cores, and this is A100, 0 cores"));
}

TEST_F(SeveralWorkers, MayDifferInWhatDoesNotMakeThemFaster) {
  WorkerDescription larger = description_of("A100");
  larger.machine.memory_bytes = 1 << 20;
  larger.machine.kernel = "6.2";
  larger.machine.gpus.emplace_back().uuid = "GPU-1";
  const std::string task = task_hash(order_.task);
  EXPECT_EQ(error_of({place("A100", task), place(larger, task)}), "");
}

TEST_F(SeveralWorkers, MustBeOfOurOwnVersion) {
  WorkerDescription old = description_of("A100");
  old.version = "0.0.1";
  EXPECT_THAT(error_of({place(old, task_hash(order_.task))}),
              AllOf(HasSubstr("of version 0.0.1"), HasSubstr("install the same version there")));
}

TEST_F(SeveralWorkers, MustHaveWhatDoctorAsksFor) {
  WorkerDescription open = description_of("A100");
  open.problems = {{"g++ is missing", "get it", false}, {"landlock is missing", "boot it", true}};
  const WorkerPlace there = place(open, task_hash(order_.task));
  EXPECT_THAT(error_of({there}), HasSubstr("landlock is missing; boot it"));
  order_.judging.sandbox = false;  // every result is unverified then
  EXPECT_EQ(error_of({there}), "");
}

TEST_F(SeveralWorkers, MustOpenTheTaskThatWasAskedFor) {
  EXPECT_THAT(error_of({place("A100", task_hash(order_.task)), place("H200", "ab12")}),
              AllOf(HasSubstr("the worker of \"read"), HasSubstr("answers another order")));
}

}  // namespace
}  // namespace kernelpro
