#include "common/base/machine_lock.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "common/base/file.hpp"
#include "common/base/set_variable.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::int64_t lock_wait_ms = 20'000;

class MachineLockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<ScratchDir> made = ScratchDir::create("lock-test");
    ASSERT_TRUE(made.ok());
    scratch_.emplace(std::move(*made));
    fs::permissions(scratch_->path(), fs::perms::all | fs::perms::sticky_bit);
    folder_.emplace("KERNELPRO_LOCK_DIR", scratch_->path().string());
  }

  static Result<MachineLock> try_lock(LockMode mode) {
    return MachineLock::acquire("cpu", mode, 0);
  }

  std::optional<ScratchDir> scratch_;
  std::optional<SetVariable> folder_;
};

// Runs `body` in a process of its own; its exit code is 0 when the body returned true.
pid_t in_process(const std::function<bool()>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::_exit(body() ? 0 : 1);
  }
  return pid;
}

int exit_code_of(pid_t pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(MachineLockTest, BuildsShareAndTimingIsAlone) {
  {
    const Result<MachineLock> first = try_lock(LockMode::build);
    const Result<MachineLock> second = try_lock(LockMode::build);
    EXPECT_TRUE(first.ok());
    EXPECT_TRUE(second.ok());
    EXPECT_FALSE(try_lock(LockMode::timing).ok());
  }
  const Result<MachineLock> timing = try_lock(LockMode::timing);
  EXPECT_TRUE(timing.ok());
  EXPECT_FALSE(try_lock(LockMode::timing).ok());
  EXPECT_FALSE(try_lock(LockMode::build).ok());
}

TEST_F(MachineLockTest, DevicesDoNotHinderEachOther) {
  const Result<MachineLock> cpu = try_lock(LockMode::timing);
  EXPECT_TRUE(cpu.ok());
  EXPECT_TRUE(MachineLock::acquire("gpu-1234", LockMode::timing, 0).ok());
}

TEST_F(MachineLockTest, BusyNamesTheHolderAndWhatToDo) {
  const Result<MachineLock> held = try_lock(LockMode::timing);
  ASSERT_TRUE(held.ok());
  const Result<MachineLock> refused = MachineLock::acquire("cpu", LockMode::timing, 30);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::busy);
  EXPECT_EQ(refused.error().message,
            "the CPU is being timed by process " + std::to_string(::getpid()) + " (" +
                program_invocation_short_name + "); waited 30 ms. Wait for it, or end it.");
}

TEST_F(MachineLockTest, BusyWithABuildSaysSo) {
  const Result<MachineLock> held = MachineLock::acquire("gpu-1234", LockMode::build, 0);
  ASSERT_TRUE(held.ok());
  const Result<MachineLock> refused = MachineLock::acquire("gpu-1234", LockMode::timing, 0);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("the GPU 1234 is busy with a build of process " +
                                                 std::to_string(::getpid())));
}

TEST_F(MachineLockTest, HolderThatIsUnknownIsNotInvented) {
  const Result<MachineLock> held = try_lock(LockMode::timing);
  ASSERT_TRUE(held.ok());
  for (const char* text : {"", "nonsense", "999999999 timing ghost\n", "-5 timing x\n"}) {
    // Written in place: a replaced file would be another lock.
    ASSERT_EQ(::truncate(MachineLock::path("cpu").c_str(), 0), 0);
    FILE* file = std::fopen(MachineLock::path("cpu").c_str(), "r+");
    ASSERT_NE(file, nullptr);
    std::fputs(text, file);
    std::fclose(file);
    EXPECT_THAT(try_lock(LockMode::timing).error().message,
                HasSubstr("the CPU is being timed by another process; waited 0 s"));
  }
}

TEST_F(MachineLockTest, LockOfAKilledProcessIsFree) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t holder = in_process([&] {
    const Result<MachineLock> held = try_lock(LockMode::timing);
    const char told = held.ok() ? 'y' : 'n';
    return ::write(ready[1], &told, 1) == 1 && ::pause() == 0;
  });
  char told = 0;
  ASSERT_EQ(::read(ready[0], &told, 1), 1);
  EXPECT_EQ(told, 'y');
  EXPECT_THAT(try_lock(LockMode::build).error().message,
              HasSubstr("process " + std::to_string(holder) + " "));
  ::kill(holder, SIGKILL);
  exit_code_of(holder);
  EXPECT_TRUE(try_lock(LockMode::timing).ok());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(MachineLockTest, WaitsUntilTheHolderLetsGo) {
  std::optional<Result<MachineLock>> held = try_lock(LockMode::timing);
  ASSERT_TRUE(held->ok());
  const pid_t waiter = in_process([&] {
    held.reset();  // the copy that the fork made
    return MachineLock::acquire("cpu", LockMode::timing, lock_wait_ms).ok();
  });
  held.reset();
  EXPECT_EQ(exit_code_of(waiter), 0);
}

TEST_F(MachineLockTest, StopRequestEndsTheWait) {
  const Result<MachineLock> held = try_lock(LockMode::timing);
  std::stop_source source;
  source.request_stop();
  const Result<MachineLock> stopped =
      MachineLock::acquire("cpu", LockMode::timing, lock_wait_ms, source.get_token());
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().kind, ErrorKind::interrupted);
}

TEST_F(MachineLockTest, RemovedLockFileIsMadeAgain) {
  ASSERT_TRUE(try_lock(LockMode::timing).ok());
  ASSERT_TRUE(fs::remove(MachineLock::path("cpu")));
  const Result<MachineLock> held = try_lock(LockMode::timing);
  ASSERT_TRUE(held.ok());
  EXPECT_FALSE(try_lock(LockMode::timing).ok());
}

TEST_F(MachineLockTest, FileIsForEverybodyWhateverTheUmask) {
  const mode_t before = ::umask(077);
  const Result<MachineLock> held = try_lock(LockMode::timing);
  ::umask(before);
  ASSERT_TRUE(held.ok());
  struct stat info{};
  ASSERT_EQ(::stat(MachineLock::path("cpu").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0666U);
}

TEST_F(MachineLockTest, AnotherUserSharesTheLock) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "becoming another user needs root";
  }
  const auto as_nobody = [](bool expect_lock) {
    return exit_code_of(in_process([&] {
      return ::setgid(65534) == 0 && ::setuid(65534) == 0 &&
             try_lock(LockMode::timing).ok() == expect_lock;
    }));
  };
  {
    const Result<MachineLock> held = try_lock(LockMode::timing);
    ASSERT_TRUE(held.ok());
    EXPECT_EQ(as_nobody(false), 0) << "it took a lock that root holds";
  }
  EXPECT_EQ(as_nobody(true), 0) << "it could not take a free lock in root's file";
  ASSERT_EQ(::chmod(MachineLock::path("cpu").c_str(), 0444), 0);
  EXPECT_EQ(as_nobody(true), 0) << "it could not take a free lock in a file it may only read";
}

TEST_F(MachineLockTest, LinkIsNotFollowed) {
  const fs::path victim = scratch_->path() / "victim";
  ASSERT_TRUE(write_file_atomic(victim, "precious").ok());
  fs::create_symlink(victim, MachineLock::path("cpu"));
  EXPECT_FALSE(try_lock(LockMode::timing).ok());
  EXPECT_EQ(*read_file(victim), "precious");
}

TEST_F(MachineLockTest, MissingFolderSaysWhichVariableToSet) {
  const SetVariable folder("KERNELPRO_LOCK_DIR", "/nowhere/locks");
  const Result<MachineLock> refused = try_lock(LockMode::timing);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::io);
  EXPECT_THAT(refused.error().message, HasSubstr("/nowhere/locks/kernelpro-cpu.lock"));
  EXPECT_THAT(refused.error().message, HasSubstr("set KERNELPRO_LOCK_DIR"));
}

TEST_F(MachineLockTest, DeviceNameCannotLeaveTheFolder) {
  EXPECT_EQ(MachineLock::path("gpu-../../x"),
            scratch_->path().string() + "/kernelpro-gpu-______x.lock");
}

}  // namespace
}  // namespace kernelpro
