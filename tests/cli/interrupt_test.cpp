// Commands that are stopped, killed or watched on a terminal.
#include <pty.h>
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

  // Those of this build's programs that a command of this test started: no other test runs beside.
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

TEST_F(Interrupt, TheNextWorkerRemovesTheScratchFoldersOfAKilledOne) {
  Running running(endless(), work());
  ASSERT_TRUE(first_is_judged());
  const std::optional<pid_t> victim = worker();
  ASSERT_TRUE(victim);
  // Another worker comes and goes while the first one lives.
  const Command other = command({KERNELPRO_BIN_DIR "/kernelpro-worker"});
  expect_exit(run_to_end(other), 0);
  EXPECT_THAT(names_in(temporary(), "kernelpro-"), Not(IsEmpty()));
  ::kill(*victim, SIGKILL);
  EXPECT_EQ(running.end(), 5);
  EXPECT_TRUE(nothing_runs()) << ::testing::PrintToString(own_processes());
  EXPECT_THAT(names_in(temporary(), "kernelpro-"), Not(IsEmpty()));
  expect_exit(run_to_end(other), 0);
  EXPECT_THAT(names_in(temporary(), "kernelpro-"), IsEmpty());
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
