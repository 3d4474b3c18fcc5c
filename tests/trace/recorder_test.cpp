// The library as it is installed, in a program of its own, with a CUPTI that needs no GPU; and what
// the worker reads of the file.
#include "trace/recorder.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <optional>

#include "common/base/file.hpp"
#include "common/base/hash.hpp"
#include "common/base/process.hpp"
#include "support/nvcc.hpp"
#include "worker/profile/trace_file.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The fake CUPTI's functions, by number.
constexpr char launches[] = "runtime:1";
constexpr char waits[] = "runtime:2";
constexpr char starts[] = "runtime:3";
constexpr char stops[] = "runtime:4";

class RecorderTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    built_ = new Result<ScratchDir>(ScratchDir::create("recorder-test"));
    ASSERT_TRUE(*built_);
    compile("fake_cupti.cpp", cupti(), {"-shared", "-fPIC"});
    compile("traced_program.cpp", program(), {"-ldl"});
  }
  static void TearDownTestSuite() {
    delete built_;
    built_ = nullptr;
  }
  void SetUp() override { ASSERT_TRUE(scratch_); }

  static fs::path cupti() { return (*built_)->path() / "libcupti.so"; }
  static fs::path program() { return (*built_)->path() / "traced_program"; }
  static fs::path library() { return fs::path(KERNELPRO_BIN_DIR) / "libkernelpro_trace.so"; }

  [[nodiscard]] fs::path folder() const { return scratch_->path(); }
  [[nodiscard]] fs::path file() const { return folder() / "trace"; }

  // Runs the program with these steps.
  [[nodiscard]] Finished run(const std::vector<std::string>& steps,
                             std::map<std::string, std::string> environment = {}) const {
    Command command;
    command.arguments = {program().string(), library().string()};
    command.arguments.insert(command.arguments.end(), steps.begin(), steps.end());
    command.environment = std::move(environment);
    command.environment.emplace("KERNELPRO_TRACE_FILE", file().string());
    command.environment.emplace("KERNELPRO_CUPTI", cupti().string());
    const Result<Finished> done = run_command(command);
    EXPECT_TRUE(done.ok()) << done.error().text();
    return done.ok() ? *done : Finished();
  }

  // The one trace of a program that ran as it should.
  [[nodiscard]] Trace traced(const std::vector<std::string>& steps,
                             std::map<std::string, std::string> environment = {}) const {
    const Finished done = run(steps, std::move(environment));
    EXPECT_EQ(done.exit_code, 7) << done.errors;
    return read_one();
  }

  [[nodiscard]] Trace read_one() const {
    const Result<std::vector<Trace>> traces = read_trace(file());
    EXPECT_TRUE(traces.ok()) << traces.error().text();
    EXPECT_THAT(*traces, SizeIs(1));
    return traces.ok() && traces->size() == 1 ? traces->front() : Trace();
  }

  [[nodiscard]] std::string text() const {
    const Result<std::string> read = read_file(file());
    EXPECT_TRUE(read.ok()) << read.error().text();
    return read.ok() ? *read : "";
  }

 private:
  static void compile(const std::string& source, const fs::path& output,
                      const std::vector<std::string>& options) {
    Command command;
    command.arguments = {
        KERNELPRO_CXX, "-std=c++20",    "-I" KERNELPRO_SOURCE_DIR "/src",
        "-o",          output.string(), KERNELPRO_SOURCE_DIR "/tests/trace/" + source};
    command.arguments.insert(command.arguments.end(), options.begin(), options.end());
    const Result<Finished> done = run_command(command);
    ASSERT_TRUE(done.ok()) << done.error().text();
    ASSERT_TRUE(done->succeeded()) << done->errors;
  }

  static Result<ScratchDir>* built_;
  Result<ScratchDir> scratch_ = ScratchDir::create("recorder-test");
};

Result<ScratchDir>* RecorderTest::built_ = nullptr;

TEST_F(RecorderTest, AKernelIsRecordedWithAllThatIsKnownOfIt) {
  const Trace trace =
      traced({"device:0:9:0:NVIDIA H200", "kernel:_Z4axpyPfi:5:1000100:1000400:40"});
  EXPECT_TRUE(trace.complete) << trace.problem;
  EXPECT_EQ(trace.origin, "cupti");
  EXPECT_EQ(trace.architecture, "sm_90");
  EXPECT_EQ(trace.end_ns, 300);
  ASSERT_THAT(trace.launches, SizeIs(1));
  const TracedLaunch& launch = trace.launches[0];
  EXPECT_EQ(launch.name, "_Z4axpyPfi");
  EXPECT_EQ(launch.module, "");
  EXPECT_EQ(launch.context, 1U);
  EXPECT_EQ(launch.stream, 7U);
  EXPECT_EQ(launch.correlation, 5U);
  EXPECT_EQ(launch.start_ns, 0);
  EXPECT_EQ(launch.end_ns, 300);
  EXPECT_THAT(launch.grid, ElementsAre(10, 11, 12));
  EXPECT_THAT(launch.block, ElementsAre(20, 21, 22));
  EXPECT_EQ(launch.registers, 40);
  EXPECT_EQ(launch.static_shared_bytes, 1024);
  EXPECT_EQ(launch.dynamic_shared_bytes, 2048);
  EXPECT_EQ(launch.local_bytes, 16);
}

TEST_F(RecorderTest, CopiesFillsAndCallsAreRecorded) {
  const Trace trace = traced({"copy:1:1:4096:1:1000000:1000100", "copy:2:3:64:2:1000200:1000300",
                              "peer-copy:10:3:32:3:1000300:1000400", "fill:16:4:1000400:1000500",
                              "runtime:2:9:1000450:1000600"});
  ASSERT_THAT(trace.copies, SizeIs(3));
  EXPECT_EQ(trace.copies[0].kind, CopyKind::host_to_device);
  EXPECT_TRUE(trace.copies[0].pageable);
  EXPECT_EQ(trace.copies[0].bytes, 4096);
  EXPECT_EQ(trace.copies[1].kind, CopyKind::device_to_host);
  EXPECT_FALSE(trace.copies[1].pageable);
  EXPECT_EQ(trace.copies[2].kind, CopyKind::device_to_device);
  EXPECT_EQ(trace.copies[2].correlation, 3U);
  ASSERT_THAT(trace.fills, SizeIs(1));
  EXPECT_EQ(trace.fills[0].bytes, 16);
  ASSERT_THAT(trace.calls, SizeIs(1));
  EXPECT_EQ(trace.calls[0].name, "cudaDeviceSynchronize");
  EXPECT_EQ(trace.calls[0].kind, CallKind::synchronize);
  EXPECT_EQ(trace.calls[0].thread, 99U);
}

TEST_F(RecorderTest, OnlyTheOutermostCallCounts) {
  const Trace trace = traced({"driver:1:5:1000010:1000020", "runtime:1:5:1000000:1000030",
                              "driver:1:6:1000040:1000050", "kernel:k:5:1000100:1000200:1"});
  ASSERT_THAT(trace.calls, SizeIs(2));
  EXPECT_EQ(trace.calls[0].name, "cudaLaunchKernel");
  EXPECT_EQ(trace.calls[1].name, "cuLaunchKernel");
  EXPECT_EQ(trace.end_ns, 200);  // from the call that asked for the kernel to its end
}

TEST_F(RecorderTest, OnlyWhatIsAskedForBetweenStartAndStopCounts) {
  const Finished done = run({
      "kernel:before:1:1000000:1000100:1",
      std::string(launches) + ":1:999900:999910",
      std::string(starts) + ":2:1000200:1000210",
      std::string(launches) + ":3:1000220:1000230",
      std::string(launches) + ":4:1000240:1000250",
      std::string(stops) + ":5:1000260:1000270",
      std::string(launches) + ":6:1000280:1000290",
      std::string(starts) + ":7:1000300:1000310",
      std::string(launches) + ":8:1000320:1000330",
      // It runs after the stop, but was asked for before it.
      "kernel:inside:4:1000500:1000600:1",
      "kernel:inside:3:1000300:1000400:1",
      "kernel:between:6:1000600:1000700:1",
      "kernel:last:8:1000700:1000800:1",
  });
  EXPECT_EQ(done.exit_code, 7) << done.errors;
  const Result<std::vector<Trace>> traces = read_trace(file());
  ASSERT_TRUE(traces.ok()) << traces.error().text();
  ASSERT_THAT(*traces, SizeIs(2));
  const Trace& first = traces->at(0);
  ASSERT_THAT(first.launches, SizeIs(2));
  EXPECT_EQ(first.launches[0].index, 1);
  EXPECT_EQ(first.launches[0].start_ns, 90);  // after the end of the call that starts
  EXPECT_EQ(first.launches[1].index, 2);
  EXPECT_EQ(first.end_ns, 390);
  EXPECT_THAT(first.calls, SizeIs(2));
  const Trace& second = traces->at(1);
  ASSERT_THAT(second.launches, SizeIs(1));
  EXPECT_EQ(second.launches[0].name, "last");
  EXPECT_EQ(second.launches[0].index, 4);
  EXPECT_TRUE(second.complete) << second.problem;
}

TEST_F(RecorderTest, HostileRecordsDoNoHarm) {
  const std::string awkward = "a b\\c\nd\x7f\x01";
  const Trace trace =
      traced({"kernel:null:1:1000100:1000200:1", "kernel:backwards:2:1000300:1000200:1",
              "kernel:timeless:3:0:0:1", "kernel:eternal:4:1000000:0xffffffffffffffff:1",
              "record:999", "record:0", "kernel:" + awkward + ":5:1000400:1000500:1",
              "runtime:12345:6:1000100:1000200", "copy:77:9:0xffffffffffffffff:7:1000100:1000200",
              "device:0:0:0:null", "kernel:late:8:1000600:1000700:1"});
  std::vector<std::string> names;
  std::vector<std::int64_t> indices;
  for (const TracedLaunch& launch : trace.launches) {
    names.push_back(launch.name);
    indices.push_back(launch.index);
  }
  EXPECT_THAT(names, ElementsAre("", awkward, "late"));
  EXPECT_THAT(indices, ElementsAre(0, 3, 4));  // a line with unbelievable times is no launch
  EXPECT_EQ(trace.architecture, "");
  EXPECT_FALSE(trace.complete);
  EXPECT_THAT(trace.problem, HasSubstr("2 records have no times"));
  EXPECT_THAT(trace.problem, HasSubstr("cannot be read"));
}

TEST_F(RecorderTest, AKilledProgramLosesOnlyItsEnd) {
  const Finished done = run({"kernel:kept:1:1000100:1000200:1", "await-flush",
                             "kernel:lost:2:1000300:1000400:1", "kill"});
  EXPECT_EQ(done.signal, SIGKILL);
  const Trace trace = read_one();
  EXPECT_FALSE(trace.complete);
  EXPECT_THAT(trace.problem, HasSubstr("cut off"));
  ASSERT_FALSE(trace.launches.empty());
  EXPECT_EQ(trace.launches[0].name, "kept");
}

TEST_F(RecorderTest, AProgramThatLeavesWithoutCleaningUpIsCutOff) {
  EXPECT_EQ(run({"kernel:kept:1:1000100:1000200:1", "await-flush", "leave"}).exit_code, 0);
  EXPECT_FALSE(read_one().complete);
}

TEST_F(RecorderTest, RecordsAreTakenBeforeAContextGoes) {
  // Both cudaDeviceReset and cuCtxDestroy; a kill then shows what was taken.
  const Finished done = run({"kernel:one:1:1000100:1000200:1", "call-back:2:6",
                             "kernel:two:2:1000300:1000400:1", "call-back:1:4", "kill"});
  EXPECT_EQ(done.signal, SIGKILL);
  EXPECT_THAT(read_one().launches, SizeIs(2));
}

TEST_F(RecorderTest, TheProgramsResultIsItsOwn) {
  const Finished done = run({"kernel:k:1:1000100:1000200:1"});
  EXPECT_EQ(done.exit_code, 7);
  EXPECT_EQ(done.output, "the program's own result\n");
  EXPECT_EQ(done.errors, "");
}

TEST_F(RecorderTest, AForkedChildAddsNothing) {
  const Trace trace = traced({"kernel:k:1:1000100:1000200:1", "fork"});
  EXPECT_THAT(trace.launches, SizeIs(1));
  EXPECT_TRUE(trace.complete) << trace.problem;
  EXPECT_EQ(text().find("\nE\n"), text().size() - 3);
}

TEST_F(RecorderTest, ASecondProcessWritesAFileOfItsOwn) {
  EXPECT_EQ(run({"kernel:first:1:1000100:1000200:1"}).exit_code, 7);
  EXPECT_EQ(
      run({"kernel:second:1:1000100:1000200:1", "kernel:second:2:1000300:1000400:1"}).exit_code, 7);
  const std::vector<fs::path> files = trace_files(file());
  ASSERT_THAT(files, SizeIs(2));
  EXPECT_EQ(files[1], file());
  const Result<std::vector<Trace>> other = read_trace(files[0]);
  ASSERT_TRUE(other.ok()) << other.error().text();
  EXPECT_THAT(other->front().launches, SizeIs(2));
}

TEST_F(RecorderTest, LostRecordsAreReported) {
  const Trace trace = traced({"drop:12", "kernel:k:1:1000100:1000200:1"});
  EXPECT_FALSE(trace.complete);
  EXPECT_EQ(trace.problem, "CUPTI lost 12 records");
}

TEST_F(RecorderTest, AnotherProfilerIsNamedAsTheReason) {
  EXPECT_EQ(run({}, {{"FAKE_SUBSCRIBE", "39"}}).exit_code, 7);
  const Result<std::vector<Trace>> traces = read_trace(file());
  ASSERT_FALSE(traces.ok());
  EXPECT_THAT(traces.error().text(), HasSubstr("CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"));
  EXPECT_THAT(traces.error().text(), HasSubstr("another profiler"));
}

TEST_F(RecorderTest, AKindThatIsDeniedIsTheReason) {
  EXPECT_EQ(run({}, {{"FAKE_ENABLE", "10"}}).exit_code, 7);
  const Result<std::vector<Trace>> traces = read_trace(file());
  ASSERT_FALSE(traces.ok());
  EXPECT_THAT(traces.error().text(), HasSubstr("code 35"));
}

TEST_F(RecorderTest, AnUnknownVersionIsSaidPlainly) {
  EXPECT_EQ(run({}, {{"FAKE_VERSION", "140000"}}).exit_code, 7);
  const Result<std::vector<Trace>> traces = read_trace(file());
  ASSERT_FALSE(traces.ok());
  EXPECT_THAT(traces.error().text(), HasSubstr("CUPTI version 140000 is not known"));
}

TEST_F(RecorderTest, AMissingCuptiIsTheReason) {
  EXPECT_EQ(run({}, {{"KERNELPRO_CUPTI", "/nowhere/libcupti.so"}}).exit_code, 7);
  const Result<std::vector<Trace>> traces = read_trace(file());
  ASSERT_FALSE(traces.ok());
  EXPECT_THAT(traces.error().text(), HasSubstr("/nowhere/libcupti.so"));
  EXPECT_THAT(traces.error().text(), HasSubstr("set KERNELPRO_CUPTI"));
}

TEST_F(RecorderTest, ALibraryThatIsNotCuptiIsTheReason) {
  EXPECT_EQ(run({}, {{"KERNELPRO_CUPTI", library().string()}}).exit_code, 7);
  const Result<std::vector<Trace>> traces = read_trace(file());
  ASSERT_FALSE(traces.ok());
  EXPECT_THAT(traces.error().text(), HasSubstr("lacks functions"));
}

TEST_F(RecorderTest, WithoutAFileToWriteItDoesNothing) {
  EXPECT_EQ(run({}, {{"KERNELPRO_TRACE_FILE", ""}}).exit_code, 7);
  EXPECT_EQ(run({}, {{"KERNELPRO_TRACE_FILE", "/nowhere/trace"}}).exit_code, 7);
  EXPECT_THAT(trace_files(file()), IsEmpty());
  const Result<std::vector<Trace>> traces = read_trace(file());
  ASSERT_FALSE(traces.ok());
  EXPECT_THAT(traces.error().text(), HasSubstr("left no trace"));
}

TEST_F(RecorderTest, TheLimitOfFileSizesEndsTheTraceAndNotTheProgram) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small = {4096, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Finished done = run({"kernel:k:1:1000100:1000200:1", "await-flush", "kernels:1000"});
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(done.signal, 0);
  EXPECT_EQ(done.exit_code, 7);
  const Trace trace = read_one();
  EXPECT_FALSE(trace.complete);
  EXPECT_THAT(trace.launches, SizeIs(1));
}

TEST_F(RecorderTest, TheRealCuptiRecordsOrSaysWhyNot) {
  const fs::path real = "/usr/local/cuda/lib64/libcupti.so";
  if (!fs::exists(real)) {
    GTEST_SKIP() << "there is no " << real;
  }
  EXPECT_EQ(run({}, {{"KERNELPRO_CUPTI", real.string()}}).exit_code, 7);
  EXPECT_THAT(text(), HasSubstr("\nV 1"));
  const Result<std::vector<Trace>> traces = read_trace(file());
  if (!traces.ok()) {
    EXPECT_THAT(traces.error().text(), HasSubstr("CUPTI refuses to record: CUPTI_ERROR"));
  }
}

class ModulesTest : public RecorderTest {
 protected:
  // A module with the kernel `k` and one more; empty without nvcc.
  [[nodiscard]] fs::path module(const std::string& other) const {
    const std::optional<std::string> nvcc = kernelpro::find_nvcc();
    if (!nvcc) {
      return {};
    }
    const fs::path source = folder() / (other + ".cu");
    EXPECT_TRUE(write_file_unsynced(source,
                                    "extern \"C\" __global__ void k(float* a) { a[0] = 1; }\n"
                                    "__device__ __noinline__ float f(float a) { return a * a; }\n"
                                    "extern \"C\" __global__ void " +
                                        other + "(float* a) { a[0] = f(a[1]); }\n"));
    Command command;
    command.arguments = {
        *nvcc,          "-cubin", "-arch=sm_90", "-o", (folder() / (other + ".cubin")).string(),
        source.string()};
    command.inherit_environment = true;
    const Result<Finished> done = run_command(command);
    EXPECT_TRUE(done.ok() && done->succeeded());
    return folder() / (other + ".cubin");
  }

  static std::string identity(const fs::path& cubin) {
    const Result<std::string> bytes = read_file(cubin);
    std::ostringstream out;
    out << std::hex << memory_hash(bytes->data(), bytes->size());
    return out.str();
  }
};

TEST_F(ModulesTest, AKernelIsOfTheModuleThatHasIt) {
  const fs::path a = module("a");
  if (a.empty()) {
    GTEST_SKIP() << "there is no nvcc";
  }
  const Trace trace = traced({"module:" + a.string(), "kernel:k:1:1000100:1000200:1",
                              "kernel:a:2:1000300:1000400:1", "kernel:f:3:1000500:1000600:1"});
  ASSERT_THAT(trace.launches, SizeIs(3));
  EXPECT_EQ(trace.launches[0].module, identity(a));
  EXPECT_EQ(trace.launches[1].module, identity(a));
  EXPECT_EQ(trace.launches[2].module, "");
}

TEST_F(ModulesTest, AKernelThatTwoModulesHaveIsOfNone) {
  const fs::path a = module("a");
  if (a.empty()) {
    GTEST_SKIP() << "there is no nvcc";
  }
  const fs::path b = module("b");
  // The first launch is recorded while only one module has it.
  const Trace trace = traced({"module:" + a.string(), "kernel:k:1:1000100:1000200:1", "await-flush",
                              "module:" + b.string(), "kernel:k:2:1000300:1000400:1",
                              "kernel:b:3:1000500:1000600:1"});
  ASSERT_THAT(trace.launches, SizeIs(3));
  EXPECT_EQ(trace.launches[0].module, "");
  EXPECT_EQ(trace.launches[1].module, "");
  EXPECT_EQ(trace.launches[2].module, identity(b));
}

TEST_F(ModulesTest, ABrokenModuleIsNone) {
  const fs::path broken = folder() / "broken.cubin";
  ASSERT_TRUE(write_file_unsynced(broken,
                                  "\x7f"
                                  "ELF and nothing more"));
  const Trace trace =
      traced({"module:" + broken.string(), "module:/nowhere", "kernel:k:1:1000100:1000200:1"});
  ASSERT_THAT(trace.launches, SizeIs(1));
  EXPECT_EQ(trace.launches[0].module, "");
}

}  // namespace
}  // namespace kernelpro
