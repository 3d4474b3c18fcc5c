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
    EXPECT_TRUE(write_file_unsynced(file, source));
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
    wanted.program = KERNELPRO_BIN_DIR "/" + program_;
    wanted.stop_timeout_ms = stop_timeout_ms_;
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
  std::string program_ = "kernelpro-runner";
  std::int64_t stop_timeout_ms_ = patience_ms;
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

TEST_F(Runner, GetsNoMemoryThatTheLimitOfTheHeapDoesNotCount) {
  const Exchange called = call(small_source(
      "x[i]",
      "const auto got = [](int flags) {\n"
      "  return mmap(nullptr, 4096, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0)\n"
      "         != MAP_FAILED;\n"
      "};\n"
      "if (!got(MAP_PRIVATE)) return 1;\n"
      "if (got(MAP_SHARED) || errno != ENOMEM) return 2;\n"
      "if (got(MAP_PRIVATE | MAP_GROWSDOWN) || errno != ENOMEM) return 3;\n",
      "#include <errno.h>\n#include <sys/mman.h>\n"));
  ASSERT_EQ(called.end, ExchangeEnd::replied);
  EXPECT_EQ(called.reply.status, runner::CallStatus::ok) << called.reply.code;
  EXPECT_THAT(process_->violations(), IsEmpty());
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

// As when a thread still reads at addresses of buffers that other ones took the place of.
TEST_F(Runner, AFaultOfReadingIsNoWriteToAnInput) {
  const Exchange called = call(small_source(
      "0",
      "mprotect(const_cast<float*>(x - reinterpret_cast<uintptr_t>(x) % 4096 / 4), 4096, "
      "PROT_NONE); out[0] = *static_cast<const volatile float*>(x);",
      "#include <sys/mman.h>\n#include <cstdint>"));
  ASSERT_EQ(called.end, ExchangeEnd::died);
  EXPECT_EQ(called.signal, SIGSEGV);
  ASSERT_TRUE(called.fault);
  EXPECT_EQ(called.fault->fault_tensor, -1);
}

// The thread faults when nothing is asked of the process: between two requests.
TEST_F(Runner, AFaultOfALeftThreadIsACrash) {
  const std::string source = small_source("x[i] + y[i]",
                                          "static bool started = [] { std::thread([] { "
                                          "usleep(50000); *(volatile int*)8 = 1; }).detach();"
                                          " return true; }();",
                                          "#include <thread>\n#include <unistd.h>");
  ASSERT_EQ(call(source).end, ExchangeEnd::replied);
  process_->let_run(200);
  const Exchange again = go();
  ASSERT_EQ(again.end, ExchangeEnd::died);
  EXPECT_EQ(again.signal, SIGSEGV);
}

// As above, and the process is stopped while its report lies there unread.
TEST_F(Runner, AFaultReportedBeforeTheNextRequestIsACrash) {
  const std::string source =
      small_source("x[i] + y[i]",
                   "static bool started = [] { std::thread([] { *(volatile int*)8 = 1; "
                   "}).detach(); return true; "
                   "}(); for (volatile int spin = 0; spin < 20000; spin = spin + 1) {}",
                   "#include <thread>");
  for (int trial = 0; trial < 10; ++trial) {
    Exchange last = call(source);
    // The thread may not get a processor before the process is stopped.
    for (int again = 0; last.end == ExchangeEnd::replied && again < 1000; ++again) {
      last = go();
    }
    ASSERT_EQ(last.end, ExchangeEnd::died) << trial;
    EXPECT_EQ(last.signal, SIGSEGV);
  }
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

// What the filter of system calls refuses, done all the same: by the oracle's program, which has
// none. The deadlines hold without the filter.
class Unfiltered : public Runner {
 protected:
  Unfiltered() {
    program_ = "kernelpro-oracle";
    stop_timeout_ms_ = 300;
  }

  static std::string waking_itself() {
    return small_source("x[i]",
                        "static bool started = [] { std::thread([] { for (;;) { kill(getpid(), "
                        "SIGCONT); } }).detach(); return true; }();\n(void)started;",
                        "#include <csignal>\n#include <thread>\n#include <unistd.h>\n");
  }

  // Calls until it does not answer and stop as it should: now and then the stop is faster.
  Exchange call_until_it_fails() {
    Exchange called = go();
    for (int calls = 0; called.end == ExchangeEnd::replied && calls < 10'000; ++calls) {
      called = go();
    }
    return called;
  }
};

TEST_F(Unfiltered, AProcessThatWakesItselfUpIsKilledWhenItDoesNotStop) {
  start(waking_itself());
  ASSERT_EQ(load().reply.status, runner::CallStatus::ok);
  ASSERT_EQ(attach().reply.status, runner::CallStatus::ok);
  const Exchange called = call_until_it_fails();
  EXPECT_EQ(called.end, ExchangeEnd::timed_out);
  EXPECT_TRUE(called.unstoppable);
  EXPECT_FALSE(process_->alive());
}

TEST_F(Unfiltered, AProcessThatWaitsInTheKernelIsKilledWhenItDoesNotStop) {
  const Exchange called =
      call(small_source("x[i]",
                        "std::thread([] { clone([](void*) -> int { for (;;) { pause(); } }, "
                        "stack + sizeof stack, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | "
                        "CLONE_THREAD | CLONE_SYSVSEM | CLONE_VFORK, nullptr); }).detach();\n"
                        "usleep(100000);",
                        "#include <sched.h>\n#include <thread>\n#include <unistd.h>\n"
                        "alignas(16) static char stack[65536];\n"));
  EXPECT_EQ(called.end, ExchangeEnd::timed_out);
  EXPECT_TRUE(called.unstoppable);
  EXPECT_FALSE(process_->alive());
}

TEST_F(Unfiltered, AStopEndsTheWaitForAProcessThatDoesNotStop) {
  stop_timeout_ms_ = std::int64_t{3600} * 1000;
  start(waking_itself());
  ASSERT_EQ(load().reply.status, runner::CallStatus::ok);
  ASSERT_EQ(attach().reply.status, runner::CallStatus::ok);
  const std::jthread stopper([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop_.request_stop();
  });
  EXPECT_EQ(call_until_it_fails().end, ExchangeEnd::stopped);
  EXPECT_FALSE(process_->alive());
}

TEST_F(Unfiltered, HowItEndedWhileNothingWasAskedIsToldAtTheNextRequest) {
  const Exchange called =
      call(small_source("x[i]",
                        "signal(SIGCONT, [](int) { woken = 1; });\n"
                        "std::thread([] { while (woken == 0) { usleep(100); }\n"
                        "for (;;) { kill(getpid(), SIGCONT); } }).detach();",
                        "#include <csignal>\n#include <thread>\n#include <unistd.h>\n"
                        "static volatile std::sig_atomic_t woken = 0;\n"));
  ASSERT_EQ(called.end, ExchangeEnd::replied);
  for (int times = 0; process_->alive() && times < 1000; ++times) {
    process_->let_run(patience_ms / 1000);
  }
  EXPECT_FALSE(process_->alive());
  const Exchange next = go();
  EXPECT_EQ(next.end, ExchangeEnd::timed_out);
  EXPECT_TRUE(next.unstoppable);
}

TEST_F(Runner, CallsItForgedWhenAnswersComeToRequestsThatNobodyTakes) {
  // Never returns from its first call, and answers the next number whenever it is let go.
  const std::string help = R"(
#include <csignal>
#include <link.h>
#include <sys/socket.h>
#include <unistd.h>
static kernelpro::runner::Reply reply;
static void answer(int) {
  ++reply.sequence;
  send(3, &reply, sizeof reply, MSG_DONTWAIT);
}
static int find_request(dl_phdr_info* info, size_t, void*) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
    const auto* words = reinterpret_cast<const unsigned*>(info->dlpi_addr + segment.p_vaddr);
    for (size_t w = 0; w + 4 <= segment.p_memsz / 4; ++w) {
      if (words[w] == 4 && words[w + 2] == 1 && words[w + 3] == 0) reply.sequence = words[w + 1] - 1;
    }
  }
  return 1;
}
)";
  const Result<std::string> protocol =
      read_file(KERNELPRO_SOURCE_DIR "/src/common/base/runner_protocol.hpp");
  ASSERT_TRUE(protocol) << protocol.error().text();
  Exchange called = call(small_source("x[i]",
                                      "dl_iterate_phdr(find_request, nullptr);\n"
                                      "reply.kind = kernelpro::runner::ReplyKind::done;\n"
                                      "reply.calls = 1;\n"
                                      "signal(SIGCONT, answer);\n"
                                      "answer(0);\n"
                                      "for (;;) { pause(); }\n",
                                      *protocol + help));
  int answered = 0;
  for (; called.end == ExchangeEnd::replied && answered < 10'000; ++answered) {
    called = go();
  }
  EXPECT_EQ(called.end, ExchangeEnd::forged);
  EXPECT_GT(answered, 1);
  EXPECT_FALSE(process_->alive());
}

TEST_F(Runner, RecordsWhatAnArgumentMakesAnOffenseByName) {
  const Exchange called =
      call(small_source("x[i]",
                        "kill(getpid(), SIGCONT);\nraise(SIGTSTP);\n"
                        "fcntl(1, F_SETOWN, getpid());\nfcntl(1, F_SETFL, O_ASYNC);\n"
                        "madvise(out, 4096, MADV_REMOVE);\nmadvise(out, 4096, 25);\n"
                        "fcntl(1, F_GETFL);\nraise(SIGURG);\nmadvise(out, 4096, MADV_DONTNEED);\n",
                        "#include <csignal>\n#include <fcntl.h>\n#include <sys/mman.h>\n"
                        "#include <unistd.h>\n"));
  ASSERT_EQ(called.end, ExchangeEnd::replied);
  EXPECT_THAT(process_->violations(),
              ElementsAre("kill with SIGCONT", "tgkill with SIGTSTP", "fcntl with F_SETOWN",
                          "fcntl with F_SETFL and O_ASYNC", "madvise with MADV_REMOVE",
                          "madvise with MADV_COLLAPSE"));
}

TEST_F(Unfiltered, NoticesAProcessThatStopsItself) {
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

// From the runner's folder, not from ours.
TEST_F(Runner, RecordsForbiddenFilesByRelativePaths) {
  const Exchange called =
      call(small_source("x[i]", "open(\"etc/passwd\", O_RDONLY); open(\"no/such/file\", O_RDONLY);",
                        "#include <fcntl.h>\n"));
  ASSERT_EQ(called.end, ExchangeEnd::replied);
  EXPECT_THAT(process_->violations(), ElementsAre("open /etc/passwd"));
}

TEST_F(Runner, RefusesInSilenceWhatRuntimesAskFor) {
  const Exchange called = call(
      small_source("x[i]", "open(\"/proc/cpuinfo\", O_RDONLY); open(\"/no/such/file\", O_RDONLY);",
                   "#include <fcntl.h>\n"));
  ASSERT_EQ(called.end, ExchangeEnd::replied);
  EXPECT_THAT(process_->violations(), IsEmpty());
}

// Collectors of garbage ask where their stack is, and other runtimes for limits and processors.
TEST_F(Runner, RefusesInSilenceWhatAProcessAsksAboutItself) {
  const std::string includes =
      "#include <fcntl.h>\n#include <pthread.h>\n#include <sys/prctl.h>\n"
      "#include <sys/resource.h>\n#include <unistd.h>\n#include <string>\n";
  const Exchange called = call(small_source(
      "x[i]",
      "pthread_attr_t attributes;\n"
      "if (pthread_getattr_np(pthread_self(), &attributes) == 0) return 1;\n"
      "open((\"/proc/\" + std::to_string(getpid()) + \"/status\").c_str(), O_RDONLY);\n"
      "open(\"/proc/thread-self/stat\", O_RDONLY);\nopen(\"/dev/null\", O_RDWR);\n"
      "prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);\ngetpriority(PRIO_PROCESS, 0);\n",
      includes));
  ASSERT_EQ(called.end, ExchangeEnd::replied);
  EXPECT_EQ(called.reply.status, runner::CallStatus::ok) << "nothing of it is told";
  EXPECT_THAT(process_->violations(), IsEmpty());
}

TEST_F(Runner, RecordsWhatAProcessAsksAboutOthersOrWritesToItself) {
  const Exchange called = call(small_source(
      "x[i]",
      "open((\"/proc/\" + std::to_string(getppid()) + \"/maps\").c_str(), O_RDONLY);\n"
      "open(\"/proc/self/mem\", O_RDONLY);\nopen(\"/proc/self/task/../environ\", O_RDONLY);\n"
      "open(\"/proc/self/comm\", O_WRONLY);\nprctl(PR_SET_DUMPABLE, 0, 0, 0, 0);\n",
      "#include <fcntl.h>\n#include <sys/prctl.h>\n#include <unistd.h>\n#include <string>\n"));
  ASSERT_EQ(called.end, ExchangeEnd::replied);
  EXPECT_THAT(
      process_->violations(),
      ElementsAre("open /proc/" + std::to_string(getpid()) + "/maps", "open /proc/self/mem",
                  "open /proc/self/task/../environ", "open for writing /proc/self/comm", "prctl"));
}

// Names that mean something to it alone, and files below folders that it has open.
TEST_F(Runner, RecordsForbiddenFilesUnderNamesThatOnlyItCanFollow) {
  const Exchange called = call(small_source(
      "x[i]",
      "const std::string thread = \"/proc/self/task/\" + std::to_string(gettid());\n"
      "open((thread + \"/mem\").c_str(), O_RDONLY);\n"
      "open((thread + \"/root/etc/passwd\").c_str(), O_RDONLY);\n"
      "open(\"/sys/../etc/shadow\", O_RDONLY);\n"
      "const int mine = open(\"/etc/ld.so.cache\", O_RDONLY);\n"
      "if (mine < 0) return 1;\nopenat(mine, \"../group\", O_RDONLY);\n"
      "const int copy = fcntl(mine, F_DUPFD, 200);\n"
      "if (open((\"/dev/fd/\" + std::to_string(copy)).c_str(), O_RDONLY) < 0) return 2;\n",
      "#include <fcntl.h>\n#include <unistd.h>\n#include <string>\n"));
  ASSERT_EQ(called.end, ExchangeEnd::replied);
  EXPECT_EQ(called.reply.status, runner::CallStatus::ok) << called.reply.code;
  const std::string thread = "open /proc/self/task/" + std::to_string(process_->pid());
  EXPECT_THAT(process_->violations(),
              ElementsAre(thread + "/mem", thread + "/root/etc/passwd", "open /sys/../etc/shadow",
                          "open /etc/ld.so.cache/../group"));
}

TEST_F(Runner, LetsThreadsWaitForSignalsAndWakeEachOther) {
  const Exchange called = call(small_source(
      "x[i]",
      "sigset_t set; sigemptyset(&set); sigaddset(&set, SIGUSR1);\n"
      "pthread_sigmask(SIG_BLOCK, &set, nullptr); raise(SIGUSR1); int got = 0;\n"
      "if (sigwait(&set, &got) != 0 || got != SIGUSR1) return 1;\n"
      "int ends[2]; if (pipe(ends) != 0 || eventfd(0, 0) < 0) return 2;\n"
      "sched_param plain{}; if (pthread_setschedparam(pthread_self(), SCHED_OTHER, &plain)) return "
      "3;\n",
      "#include <pthread.h>\n#include <signal.h>\n#include <sys/eventfd.h>\n#include "
      "<unistd.h>\n"));
  ASSERT_EQ(called.end, ExchangeEnd::replied);
  EXPECT_EQ(called.reply.status, runner::CallStatus::ok) << called.reply.code;
  EXPECT_THAT(process_->violations(), IsEmpty());
}

// Whether a file exists is no secret, but the kernel keeps each name that it was asked for.
TEST_F(Runner, CountsQuestionsAboutPaths) {
  const auto asking = [](int times) {
    return small_source("x[i]",
                        "for (int asked = 0; asked < " + std::to_string(times) +
                            "; ++asked) { struct stat found; stat(\"/no-such-file\", &found); }\n",
                        "#include <sys/stat.h>\n");
  };
  ASSERT_EQ(call(asking(1000)).end, ExchangeEnd::replied);
  EXPECT_THAT(process_->violations(), IsEmpty());
  ASSERT_EQ(call(asking(17'000), 60'000).end, ExchangeEnd::replied);
  EXPECT_THAT(process_->violations(), ElementsAre("more than 16384 questions about paths"));
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
