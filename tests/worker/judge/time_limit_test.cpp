#include "worker/judge/time_limit.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>

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
  const TimeLimit limit(child, std::chrono::milliseconds(20));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_TRUE(limit.passed());
}

TEST(TimeLimit, LeavesAloneWhatEndsInTime) {
  const pid_t child = stopped_child();
  std::optional<TimeLimit> limit(std::in_place, child, std::chrono::hours(1));
  EXPECT_FALSE(limit->passed());
  limit.reset();
  EXPECT_EQ(::kill(child, 0), 0);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(TimeLimit, SlowTasksHaveMoreTime) {
  EXPECT_EQ(longest_timing({}), std::chrono::seconds(30));
  EXPECT_EQ(longest_timing({1e6, 4e6}), std::chrono::seconds(40));
}

}  // namespace
}  // namespace kernelpro
