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
    const std::string greeting = file("description of " + device, to_json(WorkerDescription()), 1);
    const std::string opening = file("task of " + device, to_json(opened), 2);
    return {.command = "read -r line; cat " + greeting + "; read -r line; cat " + opening +
                       "; read -r line",
            .device = {}};
  }
  // A file with that answer, as a shell names it.
  [[nodiscard]] std::string file(const std::string& name, const nlohmann::json& answer,
                                 std::int64_t id) const {
    const std::filesystem::path path = folder_->path() / name;
    EXPECT_TRUE(write_file_atomic(path, *reply_line(id, answer)).ok());
    return "'" + path.string() + "'";
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
