// Commands that are stopped, killed or watched on a terminal.
#include <fcntl.h>
#include <pty.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli/running.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Interrupt : public Cli {
 protected:
  // Judges a good candidate and then one that never returns; what was judged lies in ./c.
  [[nodiscard]] Command endless() const {
    return command(with_program({"evaluate", data("wave"), data("fast.cpp"), data("spinning.cpp"),
                                 "--no-timing", "--timeout", "600", "--certificates", "c"}));
  }

  [[nodiscard]] bool first_is_judged() const {
    return becomes_true([this] { return fs::exists(work() / "c/wave-fast.certificate.json"); });
  }

  // Those of this build's programs that a command of this test started.
  static bool nothing_runs() {
    return becomes_true([] { return own_processes().empty(); });
  }

  // The process id of this build's running worker.
  static std::optional<pid_t> worker() {
    for (const std::string& process : own_processes()) {
      if (process.ends_with("/kernelpro-worker")) {
        return std::stoi(process);
      }
    }
    return std::nullopt;
  }
};

TEST_F(Interrupt, ControlCShowsWhatWasJudgedAndLeavesNothingBehind) {
  Running running(endless(), work());
  ASSERT_TRUE(first_is_judged());
  running.signal(SIGINT);
  EXPECT_EQ(running.end(), 130);
  EXPECT_THAT(running.output(),
              AllOf(HasSubstr("wave  fast       passed"), Not(HasSubstr("spinning"))));
  EXPECT_EQ(running.errors(), "kernelpro: interrupted; 1 of 2 candidates were judged\n");
  EXPECT_THAT(own_processes(), IsEmpty());
  EXPECT_THAT(names_in(temporary(), "kernelpro-"), IsEmpty());
}

TEST_F(Interrupt, AKilledCoordinatorLeavesNoProcess) {
  Running running(endless(), work());
  ASSERT_TRUE(first_is_judged());
  running.signal(SIGKILL);
  EXPECT_EQ(running.end(), -SIGKILL);
  EXPECT_TRUE(nothing_runs()) << ::testing::PrintToString(own_processes());
  EXPECT_THAT(names_in(temporary(), "kernelpro-"), IsEmpty());
}

TEST_F(Interrupt, AKilledWorkerIsReportedWithWhatWasJudgedAndLeavesNoProcess) {
  Running running(endless(), work());
  ASSERT_TRUE(first_is_judged());
  const std::optional<pid_t> victim = worker();
  ASSERT_TRUE(victim);
  ::kill(*victim, SIGKILL);
  EXPECT_EQ(running.end(), 5);
  EXPECT_THAT(running.output(), HasSubstr("wave  fast       passed"));
  EXPECT_THAT(running.errors(), HasSubstr("kernelpro-worker' was ended by signal 9"));
  EXPECT_TRUE(nothing_runs()) << ::testing::PrintToString(own_processes());
}

TEST_F(Interrupt, TheCoordinatorRemovesTheScratchFoldersOfAKilledWorker) {
  Running running(endless(), work());
  ASSERT_TRUE(first_is_judged());
  const std::optional<pid_t> victim = worker();
  ASSERT_TRUE(victim);
  EXPECT_THAT(names_in(temporary(), "kernelpro-"), Not(IsEmpty()));
  ::kill(*victim, SIGKILL);
  EXPECT_EQ(running.end(), 5);
  EXPECT_THAT(names_in(temporary(), "kernelpro-"), IsEmpty());
}

TEST_F(Interrupt, TheNextWorkerRemovesTheScratchFoldersWhenNobodyWasLeftToDoSo) {
  Running running(endless(), work());
  ASSERT_TRUE(first_is_judged());
  const std::optional<pid_t> victim = worker();
  ASSERT_TRUE(victim);
  // Another worker comes and goes while the first one lives.
  const Command other = command({KERNELPRO_BIN_DIR "/kernelpro-worker"});
  expect_exit(run_to_end(other), 0);
  EXPECT_THAT(names_in(temporary(), "kernelpro-"), Not(IsEmpty()));
  running.signal(SIGSTOP);
  ::kill(*victim, SIGKILL);
  running.signal(SIGKILL);
  EXPECT_EQ(running.end(), -SIGKILL);
  EXPECT_TRUE(nothing_runs()) << ::testing::PrintToString(own_processes());
  EXPECT_THAT(names_in(temporary(), "kernelpro-"), Not(IsEmpty()));
  expect_exit(run_to_end(other), 0);
  EXPECT_THAT(names_in(temporary(), "kernelpro-"), IsEmpty());
}

// While a compiler works that never ends.
class InterruptedBuild : public Interrupt {
 protected:
  [[nodiscard]] Command building() const {
    return command(with_program({"evaluate", data("wave"), data("building.cpp"), "--no-timing"}));
  }

  // The driver and the compiler proper work in the folder of their build; all of these processes.
  [[nodiscard]] std::vector<std::string> compilers() const {
    std::vector<std::string> found;
    std::error_code none;
    for (const auto& process : fs::directory_iterator("/proc", none)) {
      std::error_code gone;
      const std::string folder = fs::read_symlink(process.path() / "cwd", gone).string();
      if (!gone && folder.starts_with((temporary() / "kernelpro-build-").string()) &&
          is_running(process.path())) {
        found.push_back(process.path().filename().string());
      }
    }
    return found;
  }

  // The guardian, the driver and the compiler proper.
  [[nodiscard]] bool compiler_works() const {
    return becomes_true([this] { return compilers().size() >= 3; });
  }
  [[nodiscard]] bool compiler_has_ended() const {
    return becomes_true([this] { return compilers().empty(); });
  }
};

TEST_F(InterruptedBuild, EndsAtOnceWhenAskedAndLeavesNothingBehind) {
  Running running(building(), work());
  ASSERT_TRUE(compiler_works());
  running.signal(SIGTERM);
  EXPECT_EQ(running.end(), 130);
  EXPECT_THAT(own_processes(), IsEmpty());
  EXPECT_THAT(compilers(), IsEmpty());
  EXPECT_THAT(names_in(temporary(), "kernelpro-"), IsEmpty());
}

TEST_F(InterruptedBuild, AKilledCoordinatorTakesTheCompilerWithAllItsProcessesWithIt) {
  Running running(building(), work());
  ASSERT_TRUE(compiler_works());
  running.signal(SIGKILL);
  EXPECT_EQ(running.end(), -SIGKILL);
  EXPECT_TRUE(nothing_runs()) << ::testing::PrintToString(own_processes());
  EXPECT_TRUE(compiler_has_ended()) << ::testing::PrintToString(compilers());
  EXPECT_THAT(names_in(temporary(), "kernelpro-"), IsEmpty());
}

TEST_F(InterruptedBuild, AKilledWorkerTakesTheCompilerWithAllItsProcessesWithIt) {
  Running running(building(), work());
  ASSERT_TRUE(compiler_works());
  const std::optional<pid_t> victim = worker();
  ASSERT_TRUE(victim);
  ::kill(*victim, SIGKILL);
  EXPECT_EQ(running.end(), 5);
  EXPECT_TRUE(nothing_runs()) << ::testing::PrintToString(own_processes());
  EXPECT_TRUE(compiler_has_ended()) << ::testing::PrintToString(compilers());
  EXPECT_THAT(names_in(temporary(), "kernelpro-"), IsEmpty());
}

TEST_F(Interrupt, AWaitForTheMachineEndsAtOnceWhenAsked) {
  set("KERNELPRO_LOCK_DIR", temporary().string());
  const UniqueFd lock(
      ::open((temporary() / "kernelpro-cpu.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  ASSERT_EQ(::flock(lock.get(), LOCK_EX | LOCK_NB), 0);
  Running running(endless(), work());
  ASSERT_TRUE(becomes_true([] { return worker().has_value(); }));
  running.signal(SIGTERM);
  EXPECT_EQ(running.end(), 130);
  EXPECT_THAT(own_processes(), IsEmpty());
}

TEST_F(Interrupt, ACoordinatorThatDiesTakesAStoppedRunnerAndTheLockWithIt) {
  set("KERNELPRO_LOCK_DIR", temporary().string());
  Running running(endless(), work());
  ASSERT_TRUE(first_is_judged());
  running.signal(SIGKILL);
  EXPECT_EQ(running.end(), -SIGKILL);
  EXPECT_TRUE(nothing_runs()) << ::testing::PrintToString(own_processes());
  const UniqueFd lock(::open((temporary() / "kernelpro-cpu.lock").c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_EQ(::flock(lock.get(), LOCK_EX | LOCK_NB), 0) << "the lock is held by nobody";
}

// What a terminal gets until the last program on it has ended.
std::string shown_on(int terminal) {
  std::string shown;
  char part[4096];
  for (ssize_t got = 1; got > 0;) {
    got = ::read(terminal, part, sizeof part);
    shown.append(part, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }
  return shown;
}

TEST_F(Interrupt, ATerminalShowsTheStagesOnOneLineThatIsClearedAtTheEnd) {
  int master = -1;
  int slave = -1;
  ASSERT_EQ(openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
  const UniqueFd ours(master);
  UniqueFd theirs(slave);
  Running running(
      command(with_program({"evaluate", data("wave"), data("fast.cpp"), "--no-timing"})), work(),
      theirs.get());
  theirs.reset();
  const std::string shown = shown_on(ours.get());
  EXPECT_EQ(running.end(), 0);
  EXPECT_THAT(shown, AllOf(HasSubstr("wave: opening"), HasSubstr("wave 1/1 fast: "),
                           EndsWith("\r\033[K"), Not(HasSubstr("\n"))));
  EXPECT_THAT(running.output(), AllOf(HasSubstr("wave · fast: passed"), Not(HasSubstr("\033"))));
}

}  // namespace
}  // namespace kernelpro
