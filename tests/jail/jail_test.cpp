// kernelpro-jail from outside: real programs under it, each limit beside a run without that limit.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "common/base/file.hpp"
#include "common/base/jail_policy.hpp"
#include "common/base/process.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr std::int64_t long_ms = 30'000;
constexpr std::int64_t mebibyte = 1 << 20;

const std::string jail = KERNELPRO_BIN_DIR "/kernelpro-jail";

// What a shell needs to run at all.
JailPolicy shell_policy() {
  JailPolicy policy;
  policy.read = {"/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache"};
  return policy;
}

Finished run(const std::vector<std::string>& arguments) {
  Command command;
  command.arguments = arguments;
  command.timeout_ms = long_ms;
  const Result<Finished> result = run_command(command);
  EXPECT_TRUE(result.ok()) << result.error().text();
  return result.ok() ? *result : Finished{};
}

Finished run_jailed(const JailPolicy& policy, const std::string& script,
                    const std::string& shell = "/bin/sh") {
  return run(jail_arguments(jail, policy, {shell, "-c", script}));
}

// Two folders anybody may write to and two files anybody may read, so that nothing but the jail
// stands between a program and them.
class JailTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(scratch_.ok()) << scratch_.error().text();
    for (const fs::path& folder : {inside(), outside()}) {
      fs::create_directory(folder);
      ASSERT_TRUE(write_file_unsynced(folder / "note", "the note\n").ok());
      ASSERT_EQ(::chmod((folder / "note").c_str(), 0666), 0);
      ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
    }
  }

  [[nodiscard]] fs::path inside() const { return scratch_->path() / "inside"; }
  [[nodiscard]] fs::path outside() const { return scratch_->path() / "outside"; }

  [[nodiscard]] JailPolicy writing_policy() const {
    JailPolicy policy = shell_policy();
    policy.write = {inside().string()};
    policy.file_bytes = mebibyte;
    return policy;
  }

 private:
  Result<ScratchDir> scratch_ = ScratchDir::create("jail-test");
};

TEST_F(JailTest, ReadsWhatIsAllowedAndNothingElse) {
  JailPolicy policy = shell_policy();
  policy.read.push_back(inside().string());
  EXPECT_EQ(run_jailed(policy, "cat " + (inside() / "note").string()).output, "the note\n");

  const std::string read_private = "cat " + (outside() / "note").string();
  const Finished refused = run_jailed(policy, read_private);
  EXPECT_FALSE(refused.succeeded());
  EXPECT_EQ(refused.output, "");
  EXPECT_THAT(refused.errors, HasSubstr("Permission denied"));

  policy.landlock = false;
  EXPECT_EQ(run_jailed(policy, read_private).output, "the note\n");
}

TEST_F(JailTest, AllowsASingleFileWithoutItsNeighbors) {
  JailPolicy policy = shell_policy();
  policy.read.push_back((inside() / "note").string());
  EXPECT_EQ(run_jailed(policy, "cat " + (inside() / "note").string()).output, "the note\n");
  EXPECT_FALSE(run_jailed(policy, "ls " + inside().string()).succeeded());
}

TEST_F(JailTest, HidesPasswordsEvenFromRoot) {
  JailPolicy policy = shell_policy();
  policy.drop_user = false;
  const Finished refused = run_jailed(policy, "cat /etc/shadow");
  EXPECT_FALSE(refused.succeeded());
  EXPECT_EQ(refused.output, "");
  EXPECT_THAT(refused.errors, HasSubstr("Permission denied"));
}

TEST_F(JailTest, WritesInsideAndNowhereElse) {
  const std::string create = "cd / && echo new > " + (inside() / "new").string();
  EXPECT_TRUE(run_jailed(writing_policy(), create).succeeded());
  EXPECT_EQ(read_file(inside() / "new").value(), "new\n");

  const std::string note = (outside() / "note").string();
  for (const std::string& script :
       {"echo new > " + (outside() / "new").string(), "echo new > " + note, "echo new >> " + note,
        "rm " + note, "mkdir " + (outside() / "folder").string(),
        "ln -s /etc/passwd " + (outside() / "link").string()}) {
    const Finished refused = run_jailed(writing_policy(), script);
    EXPECT_FALSE(refused.succeeded()) << script;
    EXPECT_THAT(refused.errors, HasSubstr("Permission denied")) << script;
  }
  EXPECT_EQ(read_file(note).value(), "the note\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(outside()), fs::directory_iterator()), 1);
}

TEST_F(JailTest, AllowedToReadIsNotAllowedToWrite) {
  JailPolicy policy = writing_policy();
  policy.read.push_back(outside().string());
  EXPECT_FALSE(run_jailed(policy, "echo new >> " + (outside() / "note").string()).succeeded());
  EXPECT_EQ(read_file(outside() / "note").value(), "the note\n");
}

TEST_F(JailTest, ExecutesNothingFromOutside) {
  const fs::path copy = outside() / "true";
  fs::copy_file("/bin/true", copy);
  JailPolicy policy = shell_policy();
  EXPECT_THAT(run_jailed(policy, copy.string()).errors, HasSubstr("Permission denied"));
  policy.landlock = false;
  EXPECT_TRUE(run_jailed(policy, copy.string()).succeeded());
}

TEST_F(JailTest, LimitsTheSizeOfFiles) {
  JailPolicy policy = writing_policy();
  policy.file_bytes = 4096;
  const fs::path file = inside() / "big";
  const std::string write = "head -c 8000 /bin/sh > " + file.string();
  EXPECT_FALSE(run_jailed(policy, write).succeeded());
  EXPECT_LE(fs::file_size(file), 4096U);
  EXPECT_TRUE(run_jailed(writing_policy(), write).succeeded());
  EXPECT_EQ(fs::file_size(file), 8000U);

  policy.file_bytes = 0;
  EXPECT_EQ(run_jailed(policy, "echo x > " + (inside() / "any").string()).signal, SIGXFSZ);
}

// Copies one block of that size, which lies in memory meanwhile.
Finished copy_block(JailPolicy policy, const std::string& size) {
  policy.read.emplace_back("/dev/zero");
  policy.write.emplace_back("/dev/null");
  return run_jailed(policy, "dd if=/dev/zero of=/dev/null count=1 bs=" + size);
}

TEST_F(JailTest, LimitsAddressSpace) {
  JailPolicy policy = shell_policy();
  policy.memory_bytes = 64 * mebibyte;
  EXPECT_TRUE(copy_block(policy, "1M").succeeded());
  const Finished refused = copy_block(policy, "128M");
  EXPECT_FALSE(refused.succeeded());
  EXPECT_THAT(refused.errors, HasSubstr("memory"));
}

TEST_F(JailTest, LimitsMemoryToWriteToApartFromAddresses) {
  JailPolicy policy = shell_policy();
  policy.heap_bytes = 64 * mebibyte;
  EXPECT_TRUE(copy_block(policy, "1M").succeeded());
  EXPECT_FALSE(copy_block(policy, "128M").succeeded());
}

TEST_F(JailTest, LimitsProcesses) {
  JailPolicy policy = shell_policy();
  EXPECT_EQ(run_jailed(policy, "(echo child); true").output, "child\n");
  policy.processes = 1;
  const Finished refused = run_jailed(policy, "(echo child); true");
  EXPECT_FALSE(refused.succeeded());
  EXPECT_EQ(refused.output, "");
}

// Of 0 bytes a program that cores are piped to takes no notice.
TEST_F(JailTest, GivesNoCoreAwayNotEvenByAPipe) {
  JailPolicy policy = shell_policy();
  policy.read.emplace_back("/proc");
  EXPECT_THAT(run_jailed(policy, "grep core /proc/self/limits").output,
              ContainsRegex("core file size +1 +1 +bytes"));
}

TEST_F(JailTest, LimitsProcessorTime) {
  JailPolicy policy = shell_policy();
  policy.cpu_seconds = 1;
  const Finished done = run_jailed(policy, "while :; do :; done");
  EXPECT_FALSE(done.timed_out);
  EXPECT_TRUE(done.signal == SIGXCPU || done.signal == SIGKILL) << done.signal;
}

// No process takes long, all together do; those that lost their parent count too.
TEST_F(JailTest, LimitsProcessorTimeOfAllThatAGuardedProgramStarts) {
  JailPolicy policy = shell_policy();
  policy.guard = true;
  policy.tree_cpu_ms = 1000;
  const std::string busy = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
  EXPECT_TRUE(run_jailed(policy, busy).succeeded());
  const Finished waited = run_jailed(policy, "while :; do /bin/sh -c '" + busy + "'; done");
  EXPECT_EQ(waited.signal, SIGXCPU) << waited.errors;
  policy.read.emplace_back("/dev/null");  // which a shell opens for what it leaves behind
  const Finished left =
      run_jailed(policy, "while :; do (/bin/sh -c '" + busy + "' &); sleep 0.05; done");
  EXPECT_EQ(left.signal, SIGXCPU) << left.errors;
}

TEST_F(JailTest, ClosesEveryDescriptorThatIsNotKept) {
  JailPolicy policy = shell_policy();
  policy.keep_fds = {8};
  std::vector<std::string> arguments = {"/bin/sh", "-c",
                                        "exec 5<\"$0\" 8<\"$0\" 9<\"$0\"; exec \"$@\"",
                                        (outside() / "note").string()};
  const std::string script = "cat <&8; (cat <&5) || echo no 5; (cat <&9) || echo no 9";
  for (const std::string& argument : jail_arguments(jail, policy, {"/bin/sh", "-c", script})) {
    arguments.push_back(argument);
  }
  EXPECT_EQ(run(arguments).output, "the note\nno 5\nno 9\n");
}

TEST_F(JailTest, RootBecomesNobodyAndAnyoneElseStays) {
  JailPolicy policy = shell_policy();
  const std::string dropped = ::geteuid() == 0 ? "65534" : std::to_string(::geteuid());
  EXPECT_EQ(run_jailed(policy, "id -u").output, dropped + "\n");
  if (::geteuid() == 0) {
    EXPECT_EQ(run_jailed(policy, "id -G").output, "65534\n");
  }
  policy.drop_user = false;
  EXPECT_EQ(run_jailed(policy, "id -u").output, std::to_string(::geteuid()) + "\n");
}

TEST_F(JailTest, LeavesNoCapabilityAndNoWayToGainOne) {
  JailPolicy policy = shell_policy();
  policy.read.emplace_back("/proc");
  const std::string status = run_jailed(policy, "cat /proc/self/status").output;
  EXPECT_THAT(status, HasSubstr("NoNewPrivs:\t1\n"));
  EXPECT_THAT(status, HasSubstr("CapEff:\t0000000000000000\n"));
  EXPECT_THAT(status, HasSubstr("CapPrm:\t0000000000000000\n"));
}

bool wait_for(int fd, short event) {
  pollfd wait{fd, POLLIN, 0};
  return ::poll(&wait, 1, static_cast<int>(long_ms)) == 1 && (wait.revents & event) != 0;
}

TEST_F(JailTest, DiesWithItsParent) {
  const std::string fifo = (inside() / "fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const UniqueFd life_line(::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(life_line.valid());
  JailPolicy policy = shell_policy();
  policy.keep_fds = {8};
  Command command;
  command.arguments = {"/bin/sh", "-c", "exec 8>\"$0\"; \"$@\" & wait", fifo};
  for (const std::string& argument :
       jail_arguments(jail, policy, {"/bin/sh", "-c", "echo up >&8; exec sleep 600"})) {
    command.arguments.push_back(argument);
  }
  const Result<ChildProcess> parent = ChildProcess::start(command);
  ASSERT_TRUE(parent.ok()) << parent.error().text();
  ASSERT_TRUE(wait_for(life_line.get(), POLLIN));
  char sign[8];
  ASSERT_EQ(::read(life_line.get(), sign, sizeof sign), 3);
  ASSERT_EQ(::kill(parent->pid(), SIGKILL), 0);
  EXPECT_TRUE(wait_for(life_line.get(), POLLHUP));
}

// A guarded shell that has started others, one of them in a session of its own. All of them hold
// the writing end of a fifo, so its hang-up tells that the last has ended.
class Guarded : public JailTest {
 protected:
  void SetUp() override {
    JailTest::SetUp();
    fifo_ = (inside() / "fifo").string();
    ASSERT_EQ(::mkfifo(fifo_.c_str(), 0600), 0);
    life_line_ = UniqueFd(::open(fifo_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    ASSERT_TRUE(life_line_.valid());
    policy_ = shell_policy();
    policy_.guard = true;
    policy_.keep_fds = {8};
  }

  // `wrapper` is a shell script that runs "$@" with descriptor 8 open.
  [[nodiscard]] Command started_by(const std::string& wrapper, const std::string& script) const {
    Command command;
    command.arguments = {"/bin/sh", "-c", "exec 8>\"$0\"; " + wrapper, fifo_};
    for (const std::string& argument : jail_arguments(jail, policy_, {"/bin/sh", "-c", script})) {
      command.arguments.push_back(argument);
    }
    return command;
  }

  [[nodiscard]] bool is_up() const {
    char sign[8];
    return wait_for(life_line_.get(), POLLIN) && ::read(life_line_.get(), sign, sizeof sign) > 0;
  }
  [[nodiscard]] bool all_have_ended() const { return wait_for(life_line_.get(), POLLHUP); }

  static constexpr const char* family =
      "setsid sleep 600 & (sleep 600 & sleep 600) & echo up >&8; sleep 600";

  std::string fifo_;
  UniqueFd life_line_;
  JailPolicy policy_;
};

TEST_F(Guarded, AllItStartedDiesWithItsParent) {
  const Result<ChildProcess> parent = ChildProcess::start(started_by("\"$@\" & wait", family));
  ASSERT_TRUE(parent.ok()) << parent.error().text();
  ASSERT_TRUE(is_up());
  ASSERT_EQ(::kill(parent->pid(), SIGKILL), 0);
  EXPECT_TRUE(all_have_ended());
}

TEST_F(Guarded, AllItStartedEndsWhenTheTimeIsUp) {
  Command command = started_by("exec \"$@\"", family);
  command.guarded = true;
  command.timeout_ms = 1000;
  const Result<Finished> finished = run_command(command);
  ASSERT_TRUE(finished.ok()) << finished.error().text();
  EXPECT_TRUE(finished->timed_out);
  ASSERT_TRUE(is_up());
  EXPECT_TRUE(all_have_ended());
}

TEST_F(Guarded, WhatTheProgramLeavesBehindEndsWithIt) {
  const Result<Finished> finished =
      run_command(started_by("exec \"$@\"", "setsid sleep 600 & echo up >&8; exit 7"));
  ASSERT_TRUE(finished.ok()) << finished.error().text();
  EXPECT_EQ(finished->exit_code, 7);
  ASSERT_TRUE(is_up());
  EXPECT_TRUE(all_have_ended());
}

TEST_F(Guarded, EndsAsTheProgramDid) {
  policy_.keep_fds.clear();
  EXPECT_EQ(run_jailed(policy_, "exit 3").exit_code, 3);
  EXPECT_EQ(run_jailed(policy_, "kill -SEGV $$").signal, SIGSEGV);
  EXPECT_EQ(run_jailed(policy_, "kill -KILL $$").signal, SIGKILL);
  EXPECT_EQ(run_jailed(policy_, "echo said; echo so >&2").output, "said\n");
}

// A socket that listens on a free port of the loopback.
class Listener {
 public:
  Listener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket_.get(), generic, size), 0);
    EXPECT_EQ(::listen(socket_.get(), 4), 0);
    EXPECT_EQ(::getsockname(socket_.get(), generic, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  [[nodiscard]] int port() const { return port_; }

 private:
  UniqueFd socket_;
  int port_ = 0;
};

TEST_F(JailTest, ConnectsToNothing) {
  if (landlock_abi() < 4) {
    GTEST_SKIP() << "landlock of ABI 4 is needed, this kernel has " << landlock_abi();
  }
  const Listener listener;
  const std::string connect = "exec 3<>/dev/tcp/127.0.0.1/" + std::to_string(listener.port());
  JailPolicy policy = shell_policy();
  const Finished refused = run_jailed(policy, connect, "/bin/bash");
  EXPECT_FALSE(refused.succeeded());
  EXPECT_THAT(refused.errors, HasSubstr("Permission denied"));
  policy.landlock = false;
  EXPECT_TRUE(run_jailed(policy, connect, "/bin/bash").succeeded());
}

TEST_F(JailTest, SignalsNobodyOutside) {
  if (landlock_abi() < 6) {
    GTEST_SKIP() << "landlock of ABI 6 is needed, this kernel has " << landlock_abi();
  }
  const std::string script = "kill -0 " + std::to_string(::getpid());
  JailPolicy policy = shell_policy();
  policy.drop_user = false;
  EXPECT_FALSE(run_jailed(policy, script).succeeded());
  policy.landlock = false;
  EXPECT_TRUE(run_jailed(policy, script).succeeded());
}

TEST_F(JailTest, PathsThatDoNotExistAreNoError) {
  JailPolicy policy = shell_policy();
  policy.read.emplace_back("/nowhere/at/all");
  EXPECT_TRUE(run_jailed(policy, "true").succeeded());
}

TEST_F(JailTest, SaysWhatIsWrongWithItsArguments) {
  const struct {
    std::vector<std::string> arguments;
    std::string message;
  } cases[] = {
      {{jail, "--open", "1", "--", "/bin/true"}, "kernelpro-jail: --open: unknown option\n"},
      {{jail, "--memory", "lots", "--", "/bin/true"},
       "kernelpro-jail: --memory: expected a whole number >= 0, found \"lots\"\n"},
      {{jail, "--read"}, "kernelpro-jail: --read: expected a value after it\n"},
      {{jail, "--read", "/usr", "--"},
       "kernelpro-jail: expected [--read PATH]... [--write PATH]... -- PROGRAM [ARGUMENT]...\n"},
      {{jail, "--", "/nowhere/program"},
       "kernelpro-jail: opening /nowhere/program: No such file or directory\n"},
  };
  for (const auto& [arguments, message] : cases) {
    const Finished done = run(arguments);
    EXPECT_EQ(done.exit_code, jail_failed_exit_code) << message;
    EXPECT_EQ(done.errors, message);
  }
}

TEST(JailArgumentsTest, AreReadAsTheyWereWritten) {
  JailPolicy policy;
  policy.read = {"/usr", "/a folder"};
  policy.write = {"/tmp/out"};
  policy.memory_bytes = 1'000'000'000'000;
  policy.heap_bytes = 5;
  policy.file_bytes = 2;
  policy.processes = 3;
  policy.cpu_seconds = 4;
  policy.tree_cpu_ms = 6;
  policy.keep_fds = {3, 17};
  policy.network = true;
  policy.guard = true;
  policy.drop_user = false;
  policy.landlock = false;
  const std::vector<std::string> program = {"/bin/echo", "--", "--read", ""};
  const std::vector<std::string> arguments = jail_arguments("jail", policy, program);
  ASSERT_EQ(arguments[0], "jail");
  const auto parsed = parse_jail_arguments({arguments.begin() + 1, arguments.end()});
  ASSERT_TRUE(parsed.ok()) << parsed.error().text();
  EXPECT_EQ(parsed->program, program);
  EXPECT_EQ(parsed->policy.read, policy.read);
  EXPECT_EQ(parsed->policy.write, policy.write);
  EXPECT_EQ(parsed->policy.memory_bytes, policy.memory_bytes);
  EXPECT_EQ(parsed->policy.heap_bytes, policy.heap_bytes);
  EXPECT_EQ(parsed->policy.file_bytes, policy.file_bytes);
  EXPECT_EQ(parsed->policy.processes, policy.processes);
  EXPECT_EQ(parsed->policy.cpu_seconds, policy.cpu_seconds);
  EXPECT_EQ(parsed->policy.tree_cpu_ms, policy.tree_cpu_ms);
  EXPECT_EQ(parsed->policy.keep_fds, policy.keep_fds);
  EXPECT_TRUE(parsed->policy.network);
  EXPECT_TRUE(parsed->policy.guard);
  EXPECT_FALSE(parsed->policy.drop_user);
  EXPECT_FALSE(parsed->policy.landlock);
}

TEST(JailArgumentsTest, OfADefaultPolicyAreTheProgramAlone) {
  EXPECT_EQ(jail_arguments("jail", {}, {"/bin/true"}),
            (std::vector<std::string>{"jail", "--", "/bin/true"}));
  const auto parsed = parse_jail_arguments({"--", "/bin/true"});
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(parsed->policy.drop_user);
  EXPECT_FALSE(parsed->policy.network);
  EXPECT_TRUE(parsed->policy.landlock);
}

}  // namespace
}  // namespace kernelpro
