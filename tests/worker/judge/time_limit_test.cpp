#include "worker/judge/time_limit.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <thread>

namespace kernelpro {
namespace {

pid_t stopped_child() {
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) {
      ::raise(SIGSTOP);
    }
  }
  return child;
}

TEST(TimeLimit, KillsAProcessThatIsStopped) {
  const pid_t child = stopped_child();
  const WorkTime oracle;
  const TimeLimit limit(child, std::chrono::milliseconds(20), oracle);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_TRUE(limit.passed());
}

TEST(TimeLimit, LeavesAloneWhatEndsInTime) {
  const pid_t child = stopped_child();
  const WorkTime oracle;
  std::optional<TimeLimit> limit(std::in_place, child, std::chrono::hours(1), oracle);
  EXPECT_FALSE(limit->passed());
  limit.reset();
  EXPECT_EQ(::kill(child, 0), 0);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(TimeLimit, DoesNotCountWhatTheOracleTakes) {
  const pid_t child = stopped_child();
  WorkTime oracle;
  std::optional<WorkTime::Span> work(std::in_place, oracle);
  const TimeLimit limit(child, std::chrono::milliseconds(50), oracle);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_FALSE(limit.passed());
  EXPECT_EQ(::kill(child, 0), 0);
  work.reset();
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST(TimeLimit, SlowTasksHaveMoreTime) {
  EXPECT_EQ(longest_timing({}), std::chrono::seconds(30));
  EXPECT_EQ(longest_timing({1e6, 4e6}), std::chrono::seconds(40));
}

}  // namespace
}  // namespace kernelpro
