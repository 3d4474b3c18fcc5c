#include "worker/ceilings/machine.hpp"

#include <gmock/gmock.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

namespace kernelpro {
namespace {

TEST(Machine, IsNamedWithItsArchitectureAndKernel) {
  utsname system{};
  ASSERT_EQ(uname(&system), 0);
  const MachineRecord machine = describe_machine();
  EXPECT_EQ(machine.architecture, static_cast<const char*>(system.machine));
  EXPECT_EQ(machine.kernel, static_cast<const char*>(system.release));
  EXPECT_THAT(machine.processor, testing::Not(testing::IsEmpty()));
}

TEST(Machine, HasMemoryLargerThanItsCaches) {
  const MachineRecord machine = describe_machine();
  EXPECT_EQ(machine.memory_bytes,
            static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE));
  EXPECT_GE(machine.cache_bytes, 0);
  EXPECT_LT(machine.cache_bytes, machine.memory_bytes);
}

TEST(Machine, SaysNothingOfClocksOrAllThree) {
  const auto clocks = describe_machine().clocks_mhz;
  if (clocks.empty()) {
    GTEST_SKIP() << "this system does not tell its clocks";
  }
  EXPECT_LE(clocks.at("lowest"), clocks.at("highest"));
  EXPECT_GT(clocks.at("limit"), 0);
}

TEST(Machine, CountsOnlyTheCoresItMayRunOn) {
  const std::vector<int> before = allowed_processors();
  EXPECT_TRUE(std::ranges::is_sorted(before));
  EXPECT_EQ(describe_machine().cores, static_cast<int>(before.size()));

  // A thread of its own: the narrower affinity ends with it.
  std::vector<int> narrowed;
  int cores = 0;
  int refused = 0;
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(before.back()), &one);
    refused = sched_setaffinity(0, sizeof(one), &one);
    narrowed = allowed_processors();
    cores = describe_machine().cores;
  }).join();
  ASSERT_EQ(refused, 0);
  EXPECT_THAT(narrowed, testing::ElementsAre(before.back()));
  EXPECT_EQ(cores, 1);
}

}  // namespace
}  // namespace kernelpro
