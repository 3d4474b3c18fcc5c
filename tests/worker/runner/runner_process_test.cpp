// A real kernelpro-runner in its jail, with shared objects built on the spot.
#include "worker/runner/runner_process.hpp"

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <optional>
#include <thread>

#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "support/small_task.hpp"
#include "worker/tensor/buffers.hpp"

namespace kernelpro {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using namespace kernelpro::testing;

constexpr std::int64_t patience_ms = 20'000;
constexpr std::int64_t elements = 1000;

// 'T' when stopped, 'S' when it waits; 0 when there is no such process.
char state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string stat;
  std::getline(file, stat);
  const std::size_t name_end = stat.rfind(") ");
  return name_end == std::string::npos ? '\0' : stat[name_end + 2];
}

class Runner : public ::testing::Test {
 protected:
  Runner() {
    Result<ScratchDir> scratch = ScratchDir::create("runner-test");
    EXPECT_TRUE(scratch) << scratch.error().text();
    scratch_.emplace(std::move(*scratch));
  }

  // Builds `source` into a shared object that the runner may read.
  std::string build(const std::string& source) {
    const std::string file = (scratch_->path() / "candidate.cpp").string();
    const std::string library = (scratch_->path() / "candidate.so").string();
    EXPECT_TRUE(write_file_atomic(file, source));
    Command command;
    command.arguments = {KERNELPRO_CXX, "-std=c++20", "-shared",
                         "-fPIC",       "-O1",        "-I" KERNELPRO_SOURCE_DIR "/include",
                         "-pthread",    file,         "-o",
                         library};
    const Result<Finished> built = run_command(command);
    EXPECT_TRUE(built && built->succeeded()) << (built ? built->errors : built.error().text());
    chmod(library.c_str(), 0755);
    return library;
  }

  [[nodiscard]] static RunnerSettings settings(const std::string& library) {
    RunnerSettings settings;
    settings.jail = KERNELPRO_BIN_DIR "/kernelpro-jail";
    settings.program = KERNELPRO_BIN_DIR "/kernelpro-runner";
    settings.policy.read = runtime_libraries();
    settings.policy.read.push_back(library);
    settings.policy.memory_bytes = std::int64_t{4} << 30;
    return settings;
  }

  void start(const std::string& source) {
    library_ = build(source);
    RunnerSettings wanted = settings(library_);
    wanted.stop = stop_.get_token();
    Result<RunnerProcess> started = RunnerProcess::start(wanted);
    ASSERT_TRUE(started) << started.error().text();
    process_.emplace(std::move(*started));
  }

  Exchange load() {
    runner::Request request{};
    request.op = runner::Op::load;
    std::strncpy(request.path, library_.c_str(), sizeof request.path - 1);
    return process_->exchange(request, {}, patience_ms);
  }

  Exchange ask_shape() {
    runner::Request request{};
    request.op = runner::Op::shape;
    request.layout = runner_layout(plan_, 1);
    return process_->exchange(request, {}, patience_ms);
  }

  Exchange attach() {
    inputs_ = std::move(*Arena::create(plan_.input_bytes(), true));
    outputs_ = std::move(*Arena::create(plan_.output_bytes(), false));
    auto* x = reinterpret_cast<float*>(tensor_data(plan_, inputs_, 0, 0));
    auto* y = reinterpret_cast<float*>(tensor_data(plan_, inputs_, 0, 1));
    for (std::int64_t i = 0; i < elements; ++i) {
      x[i] = static_cast<float>(i);
      y[i] = 0.5F;
    }
    poison_outputs(plan_, outputs_, 0);
    runner::Request request{};
    request.op = runner::Op::attach;
    request.layout = runner_layout(plan_, 1);
    return process_->exchange(request, {inputs_.fd(), outputs_.fd()}, patience_ms);
  }

  Exchange go(std::int64_t timeout_ms = patience_ms) {
    runner::Request request{};
    request.op = runner::Op::go;
    request.count = 1;
    return process_->exchange(request, {}, timeout_ms);
  }

  // Starts, loads and attaches what must be fine, then makes one call.
  Exchange call(const std::string& source, std::int64_t timeout_ms = patience_ms) {
    start(source);
    EXPECT_EQ(load().reply.status, runner::CallStatus::ok);
    EXPECT_EQ(attach().reply.status, runner::CallStatus::ok);
    return go(timeout_ms);
  }

  [[nodiscard]] float output(std::int64_t index) const {
    return reinterpret_cast<const float*>(tensor_data(plan_, outputs_, 0, 2))[index];
  }

  std::stop_source stop_;
  BufferPlan plan_ = *plan_buffers(small_task(), {{"n", elements}}, 1, Key{});
  Arena inputs_;
  Arena outputs_;
  std::optional<ScratchDir> scratch_;
  std::string library_;
  std::optional<RunnerProcess> process_;
};

TEST_F(Runner, LoadsAttachesAndCalls) {
  const Exchange called = call(small_source("x[i] + y[i]"));
  ASSERT_EQ(called.end, ExchangeEnd::replied);
  EXPECT_EQ(called.reply.status, runner::CallStatus::ok);
  EXPECT_EQ(called.reply.calls, 1U);
  EXPECT_GE(called.reply.claim_ns, 0);
  EXPECT_GT(called.wall_ns, called.reply.claim_ns);
  EXPECT_EQ(output(0), 0.5F);
  EXPECT_EQ(output(elements - 1), static_cast<float>(elements) - 0.5F);
  EXPECT_THAT(find_breaches(plan_, outputs_, 0), IsEmpty());
  EXPECT_THAT(process_->violations(), IsEmpty());
}

TEST_F(Runner, AnswersWhatACandidateWantsForAShape) {
  start(
      small_source("x[i] + y[i]") +
      "extern \"C\" size_t kp_workspace(const kp_context* c, const kp_tensor*, int32_t) {\n"
      "  return 3 * static_cast<size_t>(c->axes[0]);\n}\n"
      "extern \"C\" size_t kp_state(const kp_context*, const kp_tensor*, int32_t) { return 77; }\n"
      "extern \"C\" int kp_prepare(const kp_context*, const kp_tensor*, int32_t) { return 0; }\n"
      "extern \"C\" const char* kp_implementation() { return \"library 1.2\"; }\n");
  const Exchange loaded = load();
  EXPECT_STREQ(loaded.reply.text, "library 1.2");
  const Exchange shaped = ask_shape();
  EXPECT_EQ(shaped.reply.workspace_bytes, 3U * elements);
  EXPECT_EQ(shaped.reply.state_bytes, 77U);
  EXPECT_EQ(shaped.reply.has_prepare, 1U);
}

TEST_F(Runner, SaysWhyAnObjectDoesNotLoad) {
  start("int nothing;");
  const Exchange loaded = load();
  ASSERT_EQ(loaded.end, ExchangeEnd::replied);
  EXPECT_EQ(loaded.reply.status, runner::CallStatus::no_symbol);
  EXPECT_THAT(loaded.reply.text, HasSubstr("does not export kp_launch"));
}

TEST_F(Runner, ReportsTheReturnedError) {
  const Exchange called = call(small_source("0", "return 42;"));
  ASSERT_EQ(called.end, ExchangeEnd::replied);
  EXPECT_EQ(called.reply.status, runner::CallStatus::returned_error);
  EXPECT_EQ(called.reply.code, 42);
  EXPECT_EQ(called.reply.calls, 0U);
}

TEST_F(Runner, ReportsAnExceptionWithItsWords) {
  const Exchange called = call(
      small_source("0", "throw std::runtime_error(\"no luck today\");", "#include <stdexcept>"));
  ASSERT_EQ(called.end, ExchangeEnd::replied);
  EXPECT_EQ(called.reply.status, runner::CallStatus::exception);
  EXPECT_STREQ(called.reply.text, "no luck today");
}

TEST_F(Runner, ReportsMemoryThatIsRefused) {
  const Exchange called = call(
      small_source("0", "static std::vector<char> kept(size_t{1} << 40);", "#include <vector>"));
  ASSERT_EQ(called.end, ExchangeEnd::replied);
  EXPECT_EQ(called.reply.status, runner::CallStatus::out_of_memory);
}

TEST_F(Runner, DescribesACrashByItsSignalAndPlace) {
  // Past the guard of the output, which is the last tensor.
  const Exchange called = call(small_source("0", "out[n + 64] = 1;"));
  ASSERT_EQ(called.end, ExchangeEnd::died);
  EXPECT_EQ(called.signal, SIGSEGV);
  ASSERT_TRUE(called.fault);
  EXPECT_EQ(called.fault->code, SIGSEGV);
  EXPECT_EQ(called.fault->fault_tensor, 2);
  EXPECT_EQ(called.fault->fault_place, runner::FaultPlace::after);
  EXPECT_FALSE(process_->alive());
}

TEST_F(Runner, CannotWriteItsInputs) {
  const Exchange called = call(small_source("0", "const_cast<float*>(x)[0] = 1;"));
  ASSERT_EQ(called.end, ExchangeEnd::died);
  EXPECT_EQ(called.signal, SIGSEGV);
  ASSERT_TRUE(called.fault);
  EXPECT_EQ(called.fault->fault_tensor, 0);
  EXPECT_EQ(called.fault->fault_place, runner::FaultPlace::inside);
}

TEST_F(Runner, ReportsTheExitCodeOfAProcessThatEndedItself) {
  const Exchange called = call(small_source("0", "_exit(9);", "#include <unistd.h>"));
  ASSERT_EQ(called.end, ExchangeEnd::died);
  EXPECT_EQ(called.signal, 0);
  EXPECT_EQ(called.exit_code, 9);
}

TEST_F(Runner, CallsAMessageOfAnotherSizeForged) {
  const Exchange called =
      call(small_source("x[i]", "send(3, \"done\", 4, 0);", "#include <sys/socket.h>"));
  EXPECT_EQ(called.end, ExchangeEnd::forged);
  EXPECT_FALSE(process_->alive());
}

TEST_F(Runner, CallsASecondReplyForged) {
  const std::string forge =
      "kernelpro::runner::Reply reply{};\n"
      "reply.kind = kernelpro::runner::ReplyKind::done;\n"
      "reply.sequence = 12345;\n"
      "send(3, &reply, sizeof reply, 0);\n";
  const Result<std::string> protocol =
      read_file(KERNELPRO_SOURCE_DIR "/src/common/base/runner_protocol.hpp");
  ASSERT_TRUE(protocol) << protocol.error().text();
  const Exchange called =
      call(small_source("x[i]", forge, "#include <sys/socket.h>\n" + *protocol));
  EXPECT_EQ(called.end, ExchangeEnd::forged);
}

TEST_F(Runner, NoticesAProcessThatStopsItself) {
  const Exchange called = call(small_source("x[i]", "raise(SIGSTOP);", "#include <csignal>"));
  EXPECT_EQ(called.end, ExchangeEnd::timed_out);
  EXPECT_TRUE(called.stopped_itself);
  EXPECT_FALSE(process_->alive());
}

TEST_F(Runner, AStopEndsACallUnderWayAndTheProcess) {
  start(small_source("0", "for (volatile int i = 0;; i = i + 1) {}"));
  ASSERT_EQ(load().reply.status, runner::CallStatus::ok);
  ASSERT_EQ(attach().reply.status, runner::CallStatus::ok);
  const std::jthread stopper([this, pid = process_->pid()] {
    while (state_of(pid) != 'R') {
      std::this_thread::yield();
    }
    stop_.request_stop();
  });
  EXPECT_EQ(go(std::int64_t{3600} * 1000).end, ExchangeEnd::stopped);
  EXPECT_FALSE(process_->alive());
}

TEST_F(Runner, IsKilledWhenItsTimeIsUp) {
  const Exchange called = call(small_source("0", "for (volatile int i = 0;; i = i + 1) {}"), 50);
  EXPECT_EQ(called.end, ExchangeEnd::timed_out);
  EXPECT_FALSE(called.stopped_itself);
  EXPECT_FALSE(process_->alive());
  EXPECT_EQ(go().end, ExchangeEnd::died) << "a dead runner answers nothing";
}

TEST_F(Runner, RecordsForbiddenCallsWithNamesAndPaths) {
  const Exchange called =
      call(small_source("x[i]",
                        "open(\"/etc/passwd\", O_RDONLY);\n"
                        "open(\"/tmp/kernelpro-escape-runner\", O_WRONLY | O_CREAT, 0600);\n"
                        "socket(AF_INET, SOCK_STREAM, 0);\n"
                        "if (fork() == 0) { _exit(0); }\n"
                        "open(\"/etc/passwd\", O_RDONLY);\n",
                        "#include <fcntl.h>\n#include <sys/socket.h>\n#include <unistd.h>\n"));
  ASSERT_EQ(called.end, ExchangeEnd::replied);
  ASSERT_EQ(process_->violations().size(), 4U) << ::testing::PrintToString(process_->violations());
  EXPECT_EQ(process_->violations()[0], "open /etc/passwd");
  EXPECT_EQ(process_->violations()[1], "open for writing /tmp/kernelpro-escape-runner");
  EXPECT_EQ(process_->violations()[2], "socket");
  EXPECT_NE(access("/tmp/kernelpro-escape-runner", F_OK), 0);
}

TEST_F(Runner, RefusesInSilenceWhatRuntimesAskFor) {
  const Exchange called = call(
      small_source("x[i]", "open(\"/proc/cpuinfo\", O_RDONLY); open(\"/no/such/file\", O_RDONLY);",
                   "#include <fcntl.h>\n"));
  ASSERT_EQ(called.end, ExchangeEnd::replied);
  EXPECT_THAT(process_->violations(), IsEmpty());
}

TEST_F(Runner, SeesForbiddenCallsOfConstructors) {
  start(small_source("x[i]", "",
                     "#include <fcntl.h>\n"
                     "static const int file = open(\"/etc/hostname\", O_RDONLY);\n"));
  EXPECT_EQ(load().end, ExchangeEnd::replied);
  EXPECT_THAT(process_->violations(), ElementsAre("open /etc/hostname"));
}

TEST_F(Runner, IsStoppedWheneverNothingIsAskedOfIt) {
  start(small_source("x[i]"));
  EXPECT_EQ(state_of(process_->pid()), 'T');
  load();
  EXPECT_EQ(state_of(process_->pid()), 'T');
  attach();
  go();
  EXPECT_EQ(state_of(process_->pid()), 'T');
}

TEST_F(Runner, KeepsALeftOverThreadFromWorkingUntilItIsLetRun) {
  // The thread waits for the call's return, then writes: it can only do so when it is let run.
  const Exchange called = call(small_source(
      "x[i]",
      "std::thread([out] { usleep(1000); *static_cast<volatile float*>(out) = 99; }).detach();",
      "#include <thread>\n#include <unistd.h>\n"));
  ASSERT_EQ(called.end, ExchangeEnd::replied);
  const float before = output(0);
  process_->let_run(patience_ms / 100);
  EXPECT_EQ(output(0), 99.0F);
  EXPECT_EQ(state_of(process_->pid()), 'T');
  EXPECT_TRUE(before == 0.0F || before == 99.0F) << before;
}

TEST_F(Runner, KeepsWhatItPrinted) {
  const Exchange called =
      call(small_source("x[i]", "puts(\"hello\"); fflush(stdout);", "#include <cstdio>\n"));
  ASSERT_EQ(called.end, ExchangeEnd::replied);
  EXPECT_EQ(process_->printed(), "hello\n");
}

TEST_F(Runner, LosesWhatIsPrintedBeyondTheLimitAndGoesOn) {
  const Exchange called = call(small_source(
      "x[i]",
      "for (int k = 0; k < 20000; ++k) { puts(\"0123456789012345678901234567890123456789"
      "\"); }",
      "#include <cstdio>\n"));
  ASSERT_EQ(called.end, ExchangeEnd::replied);
  EXPECT_LE(process_->printed().size(), 64U * 1024 + 4096);
}

TEST_F(Runner, GetsANeutralEnvironment) {
  setenv("KERNELPRO_SECRET_SEED", "12345", 1);
  const Exchange called = call(small_source(
      "x[i]", "for (char** e = environ; *e != nullptr; ++e) { puts(*e); } fflush(stdout);",
      "#include <cstdio>\n#include <unistd.h>\n"));
  unsetenv("KERNELPRO_SECRET_SEED");
  ASSERT_EQ(called.end, ExchangeEnd::replied);
  EXPECT_THAT(process_->printed(),
              MatchesRegex("LC_ALL=C\nOMP_NUM_THREADS=1\nOMP_PROC_BIND=spread\n"
                           "OMP_PLACES=\\{[0-9]+\\}(,\\{[0-9]+\\})*\n"));
}

TEST_F(Runner, DiesWithItsParent) {
  library_ = build(small_source("x[i]"));
  int report[2];
  ASSERT_EQ(pipe(report), 0);
  const pid_t parent = fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    Result<RunnerProcess> started = RunnerProcess::start(settings(library_));
    const pid_t runner = started ? started->pid() : -1;
    [[maybe_unused]] const ssize_t written = write(report[1], &runner, sizeof runner);
    _exit(0);  // no destructor kills the runner
  }
  pid_t runner = -1;
  ASSERT_EQ(read(report[0], &runner, sizeof runner), static_cast<ssize_t>(sizeof runner));
  close(report[0]);
  close(report[1]);
  ASSERT_EQ(waitpid(parent, nullptr, 0), parent);
  ASSERT_GT(runner, 0);
  // The kernel kills it at once; whoever adopts it may take a moment to bury it.
  const UniqueFd watched(static_cast<int>(syscall(SYS_pidfd_open, runner, 0)));
  if (watched.valid()) {
    pollfd ended{watched.get(), POLLIN, 0};
    EXPECT_EQ(poll(&ended, 1, static_cast<int>(patience_ms)), 1) << "the runner lives on";
  }
}

TEST_F(Runner, SaysWhatIsWrongWhenItCannotBeStarted) {
  library_ = build(small_source("x[i]"));
  RunnerSettings broken = settings(library_);
  broken.program = "/no/such/kernelpro-runner";
  const Result<RunnerProcess> started = RunnerProcess::start(broken);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().kind, ErrorKind::environment);
  EXPECT_THAT(started.error().text(), HasSubstr("starting /no/such/kernelpro-runner"));
}

}  // namespace
}  // namespace kernelpro
