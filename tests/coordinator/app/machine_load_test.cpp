#include "coordinator/app/machine_load.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "support/schema.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t second = 1'000'000'000;

class MachineLoadTest : public ::testing::Test {
 protected:
  MachineLoadTest() {
    CPU_ZERO(&own_);
    sched_getaffinity(0, sizeof own_, &own_);
    before_.at_ns = second;
    after_.at_ns = 2 * second;
    before_.processors = after_.processors = 2;
  }

  [[nodiscard]] int first_processor() const {
    int processor = 0;
    while (CPU_ISSET(processor, &own_) == 0) {
      ++processor;
    }
    return processor;
  }

  [[nodiscard]] ProcessorTimes::Process process(const std::string& name, double seconds,
                                                std::int64_t parent = 1) const {
    ProcessorTimes::Process out;
    out.name = name;
    out.parent = parent;
    out.ticks = ticks(seconds);
    out.processor = first_processor();
    return out;
  }

  [[nodiscard]] static std::int64_t ticks(double seconds) {
    return static_cast<std::int64_t>(seconds * static_cast<double>(sysconf(_SC_CLK_TCK)));
  }

  [[nodiscard]] MachineLoad load() const { return load_between(before_, after_, 100); }

  cpu_set_t own_{};
  ProcessorTimes before_;
  ProcessorTimes after_;
};

TEST_F(MachineLoadTest, NamesWhoTookHowMuchAndWhatTheHypervisorDid) {
  before_.processes[7] = process("cc1plus", 5);
  after_.processes[7] = process("cc1plus", 5.9);
  before_.processes[8] = process("chromium", 1);
  after_.processes[8] = process("chromium", 1.4);
  before_.processes[9] = process("idle", 1);
  after_.processes[9] = process("idle", 1);
  after_.busy = ticks(1.3);
  after_.stolen = ticks(0.12);
  EXPECT_TRUE(is_busy(load()));
  EXPECT_NEAR(load().taken, 1.42, 1e-6);
  EXPECT_THAT(load_notes(load()),
              ElementsAre(HasSubstr("the machine is busy: 1.4 of 2 processors are taken (cc1plus "
                                    "0.9, chromium 0.4, 6 % stolen by the hypervisor); ")));
  const nlohmann::json json = to_json(load());
  EXPECT_EQ(testing::SchemaFile("machine_load.json").complaints(json), "");
  EXPECT_EQ(json["programs"][0]["program"], "cc1plus");
}

TEST_F(MachineLoadTest, WhatWeDoOurselvesIsNotForeign) {
  before_.processes[100] = process("kernelpro", 0);
  after_.processes[100] = process("kernelpro", 0.1);
  after_.processes[100].child_ticks = ticks(0.4);  // a compiler that has ended
  after_.processes[101] = process("kernelpro-worke", 0.5, 100);
  after_.processes[102] = process("kernelpro-runne", 0.9, 101);
  after_.busy = ticks(1.95);
  EXPECT_NEAR(load().taken, 0.05, 1e-6);
  EXPECT_FALSE(is_busy(load()));
  EXPECT_THAT(load_notes(load()), IsEmpty());
}

TEST_F(MachineLoadTest, ProgramsThatEndedMeanwhileCountWithoutAName) {
  before_.processes[7] = process("make", 1);
  after_.processes[7] = process("make", 1.2);
  after_.busy = ticks(1);
  EXPECT_THAT(load_notes(load()), ElementsAre(HasSubstr("(make 0.2, others 0.8)")));
}

TEST_F(MachineLoadTest, AnotherKernelproIsNamed) {
  after_.processes[200] = process("kernelpro-worke", 0);
  EXPECT_FALSE(is_busy(load()));
  EXPECT_THAT(load_notes(load()),
              ElementsAre(HasSubstr("another kernelpro judges on this machine (process 200)")));
}

TEST_F(MachineLoadTest, AWorkerThatWaitsForItsNextOrderBurdensNobody) {
  before_.processes[200] = after_.processes[200] = process("kernelpro-worke", 3);
  EXPECT_THAT(load_notes(load()), IsEmpty());
  after_.processes[201] = process("kernelpro-runne", 0, 200);
  EXPECT_THAT(load_notes(load()),
              ElementsAre(HasSubstr("another kernelpro judges on this machine (process 200)")));
}

TEST_F(MachineLoadTest, NothingIsSaidWhereNothingIsKnown) {
  EXPECT_THAT(load_notes(load_between({}, {}, 100)), IsEmpty());
  EXPECT_EQ(read_processor_times("/nowhere").processors, 0);
}

TEST_F(MachineLoadTest, ReadsWhatTheKernelCounted) {
  const Result<ScratchDir> proc = ScratchDir::create("proc");
  const std::string processor = "cpu" + std::to_string(first_processor());
  ASSERT_TRUE(write_file_unsynced(proc->path() / "stat", "cpu 9 9 9 9 9 9 9 9 9 9\n" + processor +
                                                             " 1 2 3 1000 500 4 5 6 7 8\n"));
  fs::create_directories(proc->path() / "42");
  std::string fields;
  for (int field = 4; field <= 52; ++field) {
    fields += " " + std::to_string(field == 39 ? first_processor() : field);
  }
  ASSERT_TRUE(write_file_unsynced(proc->path() / "42" / "stat", "42 (a) b (c)) S" + fields + "\n"));
  const ProcessorTimes times = read_processor_times(proc->path());
  EXPECT_EQ(times.processors, 1);
  EXPECT_EQ(times.busy, 1 + 2 + 3 + 4 + 5);
  EXPECT_EQ(times.stolen, 6);
  ASSERT_EQ(times.processes.count(42), 1U);
  const ProcessorTimes::Process& one = times.processes.at(42);
  EXPECT_EQ(one.name, "a) b (c)");
  EXPECT_EQ(one.parent, 4);
  EXPECT_EQ(one.ticks, 14 + 15);
  EXPECT_EQ(one.child_ticks, 16 + 17);
  EXPECT_EQ(one.started, 22);
}

TEST_F(MachineLoadTest, LooksAtThisMachine) {
  const MachineLoad seen = MachineWatch().look();
  EXPECT_EQ(seen.processors, CPU_COUNT(&own_));
  EXPECT_GE(seen.taken, 0);
  EXPECT_LE(seen.taken, seen.processors);
}

}  // namespace
}  // namespace kernelpro
