// Those who judge, with a worker that only says where it stands.
#include "coordinator/serve/judges.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/base/file.hpp"
#include "common/wire/orders_json.hpp"
#include "common/wire/samples.hpp"
#include "common/wire/worker_line.hpp"

namespace kernelpro::serve {
namespace {

using ::testing::HasSubstr;

class JudgesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<Queue>> opened = Queue::open(folder_->path(), {});
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    queue_ = std::move(*opened);
  }
  // A worker on that machine, whatever it is asked.
  [[nodiscard]] WorkerPlace place_on(const MachineRecord& machine) const {
    const nlohmann::json description =
        to_json(WorkerDescription{KERNELPRO_VERSION, machine, {}, {}, {}});
    const std::filesystem::path answers = folder_->path() / machine.processor;
    EXPECT_TRUE(
        write_file_unsynced(answers, *reply_line(1, description) + *reply_line(2, description))
            .ok());
    WorkerPlace place;
    place.command =
        "n=0; while read -r line; do n=$((n + 1)); sed -n ${n}p '" + answers.string() + "'; done";
    return place;
  }
  // Work that needs no worker: what it asks for cannot be read.
  std::string accept() {
    const Result<Accepted> accepted =
        queue_->accept("ann", {{"evaluate", "no JSON", "group", ""}}, "", "");
    EXPECT_TRUE(accepted.ok());
    return accepted->ids.front();
  }
  std::string result_of(const std::string& id) {
    for (;;) {
      const auto standing = queue_->look(id);
      if (standing && *standing && (*standing)->state == WorkState::done) {
        return (*standing)->result;
      }
      std::this_thread::yield();
    }
  }

  Result<ScratchDir> folder_ = ScratchDir::create("judges");
  std::unique_ptr<Queue> queue_;
};

TEST_F(JudgesTest, AResultThatCannotBeKeptNowIsKeptLater) {
  const std::string id = accept();
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit full{0, before.rlim_max};
  std::atomic<int> troubles = 0;
  Judges judges(*queue_, {{place_on(testing::sample_machine())}, {}}, [&](const WorkNews& news) {
    if (news.what == "judging") {
      ::setrlimit(RLIMIT_FSIZE, &full);  // as a disk without room
    } else if (news.what == "unready") {
      ++troubles;
      ::setrlimit(RLIMIT_FSIZE, &before);
    }
  });
  judges.wake();
  EXPECT_THAT(result_of(id), HasSubstr("not_judged"));
  EXPECT_EQ(troubles, 1);
}

TEST_F(JudgesTest, AWorkerOnAnotherMachineThanTheFirstIsLeftOut) {
  MachineRecord other = testing::sample_machine();
  other.processor = "Other CPU";
  std::mutex mutex;
  std::string unready;
  Judges judges(*queue_, {{place_on(testing::sample_machine()), place_on(other)}, {}},
                [&](const WorkNews& news) {
                  const std::lock_guard lock(mutex);
                  unready += news.what == "unready" ? news.text : "";
                });
  for (bool said = false; !said; std::this_thread::yield()) {
    const std::lock_guard lock(mutex);
    said = !unready.empty();
  }
  EXPECT_THAT(unready, HasSubstr("stands on another machine than the first"));
  const std::string id = accept();
  judges.wake();
  EXPECT_THAT(result_of(id), HasSubstr("not_judged"));
}

}  // namespace
}  // namespace kernelpro::serve
