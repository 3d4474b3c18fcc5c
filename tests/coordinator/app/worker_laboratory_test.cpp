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

  // A place whose worker has that device.
  [[nodiscard]] WorkerPlace place(const std::string& device, const std::string& task) const {
    Opened opened;
    opened.task_hash = task;
    opened.ceilings.machine = device;
    const std::filesystem::path answers = folder_->path() / ("answers of " + device);
    const Status written = write_file_atomic(answers, *reply_line(1, to_json(opened)));
    EXPECT_TRUE(written.ok());
    return {.command = "read -r line; cat '" + answers.string() + "'; read -r line", .device = {}};
  }
  [[nodiscard]] std::string error_of(const std::vector<WorkerPlace>& places) const {
    const auto opened = WorkerLaboratory::open(places, order_, {}, {});
    return opened ? "" : opened.error().text();
  }

  OpenOrder order_;
  Result<ScratchDir> folder_ = ScratchDir::create("laboratory-test");
};

TEST_F(SeveralWorkers, MustStandOnTheSameDevice) {
  const std::string task = task_hash(order_.task);
  EXPECT_THAT(error_of({place("A100", task), place("H200", task)}),
              AllOf(HasSubstr("different devices"), HasSubstr("A100 and H200")));
}

TEST_F(SeveralWorkers, MustOpenTheTaskThatWasAskedFor) {
  EXPECT_THAT(error_of({place("A100", task_hash(order_.task)), place("H200", "ab12")}),
              AllOf(HasSubstr("the worker of \"read"), HasSubstr("answers another order")));
}

}  // namespace
}  // namespace kernelpro
