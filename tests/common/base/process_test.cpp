#include "common/base/process.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/stat.h>

#include <csignal>
#include <thread>

#include "common/base/file.hpp"
#include "common/base/set_variable.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t long_ms = 30'000;

Command shell(const std::string& script) {
  Command command;
  command.arguments = {"sh", "-c", script};
  command.timeout_ms = long_ms;
  return command;
}

Finished run(const Command& command) {
  Result<Finished> result = run_command(command);
  EXPECT_TRUE(result.ok()) << result.error().text();
  return result.ok() ? *result : Finished{};
}

// A named pipe whose reader learns when the last process that has it open for writing is gone.
class LifeLine {
 public:
  LifeLine() : scratch_(ScratchDir::create("life-line")) {
    EXPECT_EQ(::mkfifo(path().c_str(), 0666), 0);
    reader_.reset(::open(path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    EXPECT_TRUE(reader_.valid());
  }
  [[nodiscard]] std::string path() const { return (scratch_->path() / "fifo").string(); }
  // Waits until a process has written a line into it.
  [[nodiscard]] bool wait_for_sign() const { return wait_for(POLLIN); }
  [[nodiscard]] bool wait_for_end() const {
    char signs[16];
    while (::read(reader_.get(), signs, sizeof signs) > 0) {
    }
    return wait_for(POLLHUP);
  }

 private:
  [[nodiscard]] bool wait_for(short event) const {
    pollfd wait{reader_.get(), POLLIN, 0};
    return ::poll(&wait, 1, static_cast<int>(long_ms)) == 1 && (wait.revents & event) != 0;
  }

  Result<ScratchDir> scratch_;
  UniqueFd reader_;
};

TEST(RunCommandTest, KeepsBothStreamsAndTheExitCode) {
  const Finished done = run(shell("echo out; echo err >&2; exit 7"));
  EXPECT_EQ(done.output, "out\n");
  EXPECT_EQ(done.errors, "err\n");
  EXPECT_EQ(done.exit_code, 7);
  EXPECT_EQ(done.signal, 0);
  EXPECT_FALSE(done.succeeded());
  EXPECT_GT(done.wall_ns, 0);
  EXPECT_TRUE(run(shell("true")).succeeded());
}

TEST(RunCommandTest, SaysWhichSignalEndedIt) {
  const Finished done = run(shell("kill -SEGV $$"));
  EXPECT_EQ(done.signal, SIGSEGV);
  EXPECT_FALSE(done.timed_out);
  EXPECT_FALSE(done.succeeded());
}

TEST(RunCommandTest, StandardInputIsEmpty) {
  const Finished done = run(shell("cat; echo end"));
  EXPECT_EQ(done.output, "end\n");
}

TEST(RunCommandTest, WorksWhenOurOwnStandardInputIsClosed) {
  const UniqueFd kept(::fcntl(0, F_DUPFD_CLOEXEC, 10));
  ::close(0);
  const Finished done = run(shell("cat; echo out; echo err >&2"));
  ::dup2(kept.get(), 0);
  EXPECT_EQ(done.output, "out\n");
  EXPECT_EQ(done.errors, "err\n");
}

TEST(RunCommandTest, GivesOnlyPathAndTheNamedVariables) {
  const SetVariable secret("KERNELPRO_TEST_SECRET", "hidden");
  Command command;
  command.arguments = {"env"};
  command.environment = {{"NAMED", "value with spaces"}};
  const std::string path = std::getenv("PATH");
  EXPECT_EQ(run(command).output, "NAMED=value with spaces\nPATH=" + path + "\n");

  command.inherit_environment = true;
  command.environment["KERNELPRO_TEST_SECRET"] = "replaced";
  EXPECT_THAT(run(command).output, HasSubstr("KERNELPRO_TEST_SECRET=replaced\n"));
  EXPECT_THAT(run(command).output, Not(HasSubstr("hidden")));
}

TEST(RunCommandTest, RunsInTheGivenFolder) {
  Command command = shell("pwd");
  command.directory = "/usr";
  EXPECT_EQ(run(command).output, "/usr\n");
}

TEST(RunCommandTest, MissingProgramIsAnEnvironmentErrorThatNamesIt) {
  Command command;
  command.arguments = {"no-such-program-here"};
  const Result<Finished> result = run_command(command);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::environment);
  EXPECT_THAT(result.error().message,
              HasSubstr("cannot start 'no-such-program-here': PATH has no such program"));

  command.arguments = {"/no/such/program"};
  EXPECT_THAT(run_command(command).error().message,
              HasSubstr("cannot start '/no/such/program': No such file or directory"));
}

TEST(RunCommandTest, FileThatIsNoProgramIsAnEnvironmentErrorThatNamesIt) {
  const Result<ScratchDir> scratch = ScratchDir::create("process-test");
  ASSERT_TRUE(scratch.ok());
  const fs::path path = scratch->path() / "data";
  ASSERT_TRUE(write_file_atomic(path, "\x01\x02 not a program").ok());
  Command command;
  command.arguments = {path.string()};
  EXPECT_THAT(run_command(command).error().message, HasSubstr("Permission denied"));
  fs::permissions(path, fs::perms::owner_all);
  const Result<Finished> result = run_command(command);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::environment);
  EXPECT_THAT(result.error().message, HasSubstr(path.string() + "': Exec format error"));
}

TEST(RunCommandTest, MissingFolderIsAnErrorThatNamesIt) {
  Command command = shell("true");
  command.directory = "/no/such/folder";
  const Result<Finished> result = run_command(command);
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr("in the folder '/no/such/folder'"));
}

TEST(RunCommandTest, EmptyCommandIsAnError) {
  EXPECT_FALSE(run_command(Command{}).ok());
}

TEST(RunCommandTest, TimeoutKillsTheWholeGroup) {
  const LifeLine line;
  Command command = shell("sleep 1000 > " + line.path() + " & echo started; wait");
  command.timeout_ms = 300;
  const Finished done = run(command);
  EXPECT_TRUE(done.timed_out);
  EXPECT_FALSE(done.succeeded());
  EXPECT_EQ(done.output, "started\n");
  EXPECT_TRUE(line.wait_for_end());
}

TEST(RunCommandTest, WhatACommandLeavesBehindNeitherBlocksNorSurvives) {
  const LifeLine line;
  const Finished done = run(shell("exec 3> " + line.path() + "; sleep 1000 & echo done"));
  EXPECT_TRUE(done.succeeded());
  EXPECT_EQ(done.output, "done\n");
  EXPECT_TRUE(line.wait_for_end());
}

TEST(RunCommandTest, StopRequestKillsTheGroup) {
  const LifeLine line;
  std::stop_source source;
  std::thread stopper([&] {
    EXPECT_TRUE(line.wait_for_sign());
    source.request_stop();
  });
  const Result<Finished> result = run_command(
      shell("exec 3> " + line.path() + "; echo >&3; sleep 1000; true"), source.get_token());
  stopper.join();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::interrupted);
  EXPECT_THAT(result.error().message, HasSubstr("'sh'"));
  EXPECT_TRUE(line.wait_for_end());
}

TEST(RunCommandTest, OutputBeyondTheLimitIsReadAndDropped) {
  Command command = shell("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; echo late");
  command.output_limit = 1000;
  const Finished done = run(command);
  EXPECT_TRUE(done.succeeded());
  EXPECT_EQ(done.output, std::string(1000, '\0'));
  EXPECT_EQ(done.errors, std::string(1000, '\0'));
}

TEST(RunCommandTest, EndlessPrinterIsTimedOut) {
  Command command = shell("while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done");
  command.timeout_ms = 200;
  command.output_limit = 100;
  const Finished done = run(command);
  EXPECT_TRUE(done.timed_out);
  EXPECT_EQ(done.output.size(), 100U);
}

TEST(RunCommandTest, ChildHasNoneOfOurDescriptors) {
  const UniqueFd ours(::open("/dev/null", O_RDONLY));  // not closed on exec by itself
  const UniqueFd high(::fcntl(ours.get(), F_DUPFD, 200));
  ASSERT_TRUE(high.valid());
  EXPECT_EQ(run(shell("for fd in 3 4 5 6 7 8 9 " + std::to_string(ours.get()) +
                      " 200; do [ -e /proc/$$/fd/$fd ] && echo $fd; done; true"))
                .output,
            "");
}

TEST(RunCommandTest, ChildStartsWithDefaultSignals) {
  auto* const before = std::signal(SIGINT, SIG_IGN);
  sigset_t blocked;
  sigset_t mask;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &mask);
  Command command;
  command.arguments = {"cat", "/proc/self/status"};
  const Finished done = run(command);
  ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  std::signal(SIGINT, before);
  EXPECT_THAT(done.output, HasSubstr("SigBlk:\t0000000000000000"));
  EXPECT_THAT(done.output, HasSubstr("SigIgn:\t0000000000000000"));
}

TEST(RunCommandTest, ManyThreadsMayRunCommandsAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      for (int turn = 0; turn < 5; ++turn) {
        const std::string word = std::to_string(i) + "." + std::to_string(turn);
        EXPECT_EQ(run(shell("echo " + word)).output, word + "\n");
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

ChildProcess start(const std::string& script) {
  Result<ChildProcess> child = ChildProcess::start(shell(script));
  EXPECT_TRUE(child.ok()) << child.error().text();
  return std::move(*child);
}

TEST(ChildProcessTest, AnswersLineByLine) {
  ChildProcess child = start("while read line; do echo got $line; echo more; done");
  ASSERT_TRUE(child.write_line("one").ok());
  EXPECT_EQ(*child.read_line(long_ms), "got one");
  EXPECT_EQ(*child.read_line(long_ms), "more");
  ASSERT_TRUE(child.write_line("").ok());
  EXPECT_EQ(*child.read_line(long_ms), "got");
}

TEST(ChildProcessTest, LinesLargerThanAPipePassBothWaysAtOnce) {
  ChildProcess child = start("exec cat");
  const std::string line(3'000'000, 'x');
  ASSERT_TRUE(child.write_line(line).ok());
  EXPECT_EQ(*child.read_line(long_ms), line);
}

TEST(ChildProcessTest, SilenceIsATimeout) {
  ChildProcess child = start("exec cat");
  const Result<std::string> line = child.read_line(30);
  ASSERT_FALSE(line.ok());
  EXPECT_EQ(line.error().kind, ErrorKind::timeout);
  EXPECT_EQ(line.error().message, "the process 'sh' did not answer within 30 ms");
}

TEST(ChildProcessTest, StopRequestEndsTheWait) {
  ChildProcess child = start("exec cat");
  std::stop_source source;
  std::thread stopper([&] { source.request_stop(); });
  const Result<std::string> line = child.read_line(long_ms, source.get_token());
  stopper.join();
  ASSERT_FALSE(line.ok());
  EXPECT_EQ(line.error().kind, ErrorKind::interrupted);
}

TEST(ChildProcessTest, LostSaysHowTheChildEnded) {
  ChildProcess left = start("echo last; printf partial; exit 3");
  EXPECT_EQ(*left.read_line(long_ms), "last");
  const Result<std::string> line = left.read_line(long_ms);
  ASSERT_FALSE(line.ok());
  EXPECT_EQ(line.error().kind, ErrorKind::lost);
  EXPECT_EQ(line.error().message, "the process 'sh' ended with exit code 3");

  ChildProcess killed = start("kill -KILL $$");
  EXPECT_EQ(killed.read_line(long_ms).error().message, "the process 'sh' was ended by signal 9");
}

TEST(ChildProcessTest, WritingToAChildThatIsGoneIsAnError) {
  ChildProcess child = start("exit 0");
  EXPECT_FALSE(child.read_line(long_ms).ok());
  const Status written = child.write_line("hello");
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().kind, ErrorKind::lost);
  sigset_t pending;
  ::sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
}

TEST(ChildProcessTest, MissingProgramIsAnErrorAtStart) {
  Command command;
  command.arguments = {"no-such-program-here"};
  const Result<ChildProcess> child = ChildProcess::start(command);
  ASSERT_FALSE(child.ok());
  EXPECT_THAT(child.error().message, HasSubstr("no-such-program-here"));
}

TEST(ChildProcessTest, GroupDiesWithTheHandle) {
  const LifeLine line;
  {
    ChildProcess child = start("exec 3> " + line.path() + "; sleep 1000 & echo up; wait");
    EXPECT_EQ(*child.read_line(long_ms), "up");
  }
  EXPECT_TRUE(line.wait_for_end());
}

TEST(ChildProcessTest, AssigningAnotherChildEndsTheFirst) {
  const LifeLine line;
  ChildProcess child = start("exec 3> " + line.path() + "; echo up; exec cat");
  EXPECT_EQ(*child.read_line(long_ms), "up");
  child = start("echo second; exec cat");
  EXPECT_TRUE(line.wait_for_end());
  EXPECT_EQ(*child.read_line(long_ms), "second");
}

TEST(ChildProcessTest, FinishLetsTheChildDoItsLastWork) {
  const Result<ScratchDir> scratch = ScratchDir::create("process-test");
  ASSERT_TRUE(scratch.ok());
  const fs::path file = scratch->path() / "last";
  ChildProcess child =
      start("cat > /dev/null; head -c 300000 /dev/zero; echo bye > " + file.string());
  child.finish(long_ms);
  EXPECT_EQ(*read_file(file), "bye\n");
  const Result<std::string> line = child.read_line(long_ms);
  ASSERT_FALSE(line.ok());
  EXPECT_EQ(line.error().message, "the process 'sh' is no longer there");
  EXPECT_FALSE(child.write_line("x").ok());
}

TEST(ChildProcessTest, FinishKillsAChildThatStays) {
  const LifeLine line;
  ChildProcess child =
      start("trap '' TERM HUP; exec 3> " + line.path() + "; echo up; sleep 1000; true");
  EXPECT_EQ(*child.read_line(long_ms), "up");
  child.finish(50);
  EXPECT_TRUE(line.wait_for_end());
}

TEST(FindProgramTest, HonorsPathInItsOrder) {
  const Result<ScratchDir> scratch = ScratchDir::create("process-test");
  ASSERT_TRUE(scratch.ok());
  for (const char* folder : {"plain", "first", "second"}) {
    ASSERT_TRUE(make_directories(scratch->path() / folder).ok());
    ASSERT_TRUE(write_file_atomic(scratch->path() / folder / "tool", "#!/bin/sh\n").ok());
  }
  fs::permissions(scratch->path() / "first/tool", fs::perms::owner_all);
  fs::permissions(scratch->path() / "second/tool", fs::perms::owner_all);
  const std::string base = scratch->path().string();
  const SetVariable path(
      "PATH", base + "/missing:" + base + "/plain:" + base + "/first:" + base + "/second");
  EXPECT_EQ(find_program("tool"), base + "/first/tool");
  EXPECT_EQ(find_program(base + "/second/tool"), base + "/second/tool");
  EXPECT_EQ(find_program(base + "/plain/tool"), std::nullopt);
  EXPECT_EQ(find_program("other"), std::nullopt);
  EXPECT_EQ(find_program(""), std::nullopt);
}

}  // namespace
}  // namespace kernelpro
