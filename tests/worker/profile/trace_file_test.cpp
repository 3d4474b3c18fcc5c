// Files of traces: as they should be, cut, garbled and made to hurt.
#include "worker/profile/trace_file.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "common/base/file.hpp"
#include "common/model/timeline.hpp"
#include "worker/profile/mutate.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char small[] = R"(kernelpro-trace 1
V 130001
D 0 9 0 NVIDIA H200
N 1 - cudaLaunchKernel
A 1 7 1 0 10
N 2 0123abcd _Z1kPf
K 2 0 1 7 1 100 200 4 1 1 128 1 1 32 0 0 0
N 3 - cudaMemcpyAsync
A 3 7 2 20 30
C 2 1 4096 7 2 210 260
F 64 7 3 300 310
N 4 - cudaStreamSynchronize
A 4 7 4 40 400
E
)";

class TraceFileTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(scratch_); }

  [[nodiscard]] fs::path path() const { return scratch_->path() / "trace"; }

  [[nodiscard]] Result<std::vector<Trace>> read(const std::string& text) const {
    std::ofstream(path(), std::ios::binary) << text;
    return read_trace(path());
  }

  // Of lines after the first one.
  [[nodiscard]] Trace read_lines(const std::string& lines) const {
    const Result<std::vector<Trace>> traces = read("kernelpro-trace 1\n" + lines);
    EXPECT_TRUE(traces.ok()) << traces.error().text();
    return traces.ok() ? traces->front() : Trace();
  }

 private:
  Result<ScratchDir> scratch_ = ScratchDir::create("trace-file-test");
};

TEST_F(TraceFileTest, AWholeFileIsOneCompleteTrace) {
  const Result<std::vector<Trace>> traces = read(small);
  ASSERT_TRUE(traces.ok()) << traces.error().text();
  ASSERT_THAT(*traces, SizeIs(1));
  const Trace& trace = traces->front();
  EXPECT_TRUE(trace.complete);
  EXPECT_EQ(trace.architecture, "sm_90");
  EXPECT_EQ(trace.end_ns, 310);
  ASSERT_THAT(trace.launches, SizeIs(1));
  EXPECT_EQ(trace.launches[0].module, "0123abcd");
  EXPECT_THAT(trace.launches[0].block, ElementsAre(128, 1, 1));
  ASSERT_THAT(trace.calls, SizeIs(3));
  EXPECT_EQ(trace.calls[2].kind, CallKind::synchronize);
  ASSERT_THAT(trace.copies, SizeIs(1));
  EXPECT_EQ(trace.copies[0].kind, CopyKind::device_to_host);
  EXPECT_TRUE(trace.copies[0].pageable);
  ASSERT_THAT(trace.fills, SizeIs(1));
}

TEST_F(TraceFileTest, AFileCutAnywhereGivesWhatIsThere) {
  const std::string whole = small;
  const std::size_t first = whole.find('\n') + 1;
  for (std::size_t length = first; length < whole.size(); ++length) {
    const Result<std::vector<Trace>> traces = read(whole.substr(0, length));
    ASSERT_TRUE(traces.ok()) << length << ": " << traces.error().text();
    EXPECT_FALSE(traces->front().complete) << length;
    EXPECT_EQ(traces->front().problem, "the program was cut off before it ended") << length;
    const bool has_kernel = length > whole.find("\nN 3");
    EXPECT_THAT(traces->front().launches, SizeIs(has_kernel ? 1 : 0)) << length;
  }
}

TEST_F(TraceFileTest, LaunchesAreNumberedAsTheyWereAskedFor) {
  const Trace trace = read_lines(
      "N 1 - a\n"
      "K 1 0 1 7 30 100 200 1 1 1 1 1 1 1 0 0 0\n"
      "K 1 0 1 8 10 300 400 1 1 1 1 1 1 1 0 0 0\n"
      "K 1 0 1 8 20 - - 1 1 1 1 1 1 1 0 0 0\n"
      "K 1 0 1 9 10 500 600 1 1 1 1 1 1 1 0 0 0\nE\n");
  std::vector<std::int64_t> indices;
  for (const TracedLaunch& launch : trace.launches) {
    indices.push_back(launch.index);
  }
  EXPECT_THAT(indices, ElementsAre(3, 0, 1));  // by start; a graph has one correlation for many
  EXPECT_EQ(trace.problem, "1 records have no times");
}

TEST_F(TraceFileTest, WorkOfAnInnerCallBelongsToTheOuterOne) {
  const Trace trace = read_lines(
      "N 1 - cudaLaunchKernel\nN 2 - cuLaunchKernel\nN 3 - k\n"
      "A 2 7 6 12 18\nA 1 7 5 10 20\nA 2 8 9 12 18\n"
      "K 3 0 1 7 6 100 200 1 1 1 1 1 1 1 0 0 0\nE\n");
  ASSERT_THAT(trace.calls, SizeIs(2));  // the other thread's is inside of none
  EXPECT_EQ(trace.calls[0].name, "cudaLaunchKernel");
  EXPECT_EQ(trace.launches[0].correlation, 5U);
  EXPECT_EQ(make_timeline(trace).median_queue_ns, 80);
}

TEST_F(TraceFileTest, ASecondStartAndAStopWithoutOneChangeNothing) {
  const Result<std::vector<Trace>> traces = read(
      "kernelpro-trace 1\nN 1 - cudaProfilerStart\nN 2 - cudaProfilerStop\nN 3 - k\n"
      "A 2 7 1 0 10\nA 1 7 2 20 30\nA 1 7 3 40 50\nA 2 7 4 60 70\nA 2 7 5 80 90\n"
      "K 3 0 1 7 100 55 75 1 1 1 1 1 1 1 0 0 0\n"
      "K 3 0 1 7 101 85 95 1 1 1 1 1 1 1 0 0 0\nE\n");
  ASSERT_TRUE(traces.ok()) << traces.error().text();
  ASSERT_THAT(*traces, SizeIs(1));
  ASSERT_THAT(traces->front().launches, SizeIs(1));
  EXPECT_EQ(traces->front().launches[0].start_ns, 25);
  EXPECT_EQ(traces->front().end_ns, 45);
}

TEST_F(TraceFileTest, AProgramWithoutGpuWorkHasATraceOfItsCalls) {
  const Trace trace = read_lines("N 1 - cuInit\nA 1 7 1 100 200\nE\n");
  EXPECT_TRUE(trace.complete);
  EXPECT_THAT(trace.launches, IsEmpty());
  EXPECT_EQ(trace.end_ns, 100);
  EXPECT_THAT(trace.calls, SizeIs(1));
  EXPECT_EQ(read_lines("E\n").end_ns, 0);
}

TEST_F(TraceFileTest, ANameInTwoModulesIsOfNone) {
  const Trace trace = read_lines(
      "N 1 aa k\nN 2 ? k\nN 3 bb other\n"
      "K 1 0 1 7 1 100 200 1 1 1 1 1 1 1 0 0 0\n"
      "K 2 0 1 7 2 300 400 1 1 1 1 1 1 1 0 0 0\n"
      "K 3 0 1 7 3 500 600 1 1 1 1 1 1 1 0 0 0\nE\n");
  ASSERT_THAT(trace.launches, SizeIs(3));
  EXPECT_EQ(trace.launches[0].module, "");
  EXPECT_EQ(trace.launches[1].module, "");
  EXPECT_EQ(trace.launches[2].module, "bb");
}

TEST_F(TraceFileTest, LinesNobodyCanReadAreLeftOutAndSaid) {
  for (const std::string bad :
       {"K 1 0 1 7 1 100 200 1 1 1 1 1 1 1 0 0",                    // a field short
        "K 1 0 1 7 1 100 200 1 1 1 1 1 1 1 0 0 0 0",                // one too many
        "K 9 0 1 7 1 100 200 1 1 1 1 1 1 1 0 0 0",                  // a name that is not there
        "K 1 0 1 7 1 200 100 1 1 1 1 1 1 1 0 0 0",                  // ends before it starts
        "K 1 0 1 7 1 100 - 1 1 1 1 1 1 1 0 0 0",                    // half a time
        "K 1 0 1 7 1 100 9223372036854775807 1 1 1 1 1 1 1 0 0 0",  // nobody waits so long
        "K 1 0 1 7 1 100 200 -1 1 1 1 1 1 1 0 0 0",                 // a negative grid
        "K 1 0 1 7 99999999999 100 200 1 1 1 1 1 1 1 0 0 0",        // too large a number
        "K 1 0 1 7 0x1 100 200 1 1 1 1 1 1 1 0 0 0",
        "C 1 0 -5 7 1 100 200",
        "F 1",
        "A 1 1 1 1",
        "N 7 - out of order",
        "N",
        "D 0 0 0 none",
        "Z",
        "",
        " ",
        "KK 1",
        "E 1"}) {
    const Trace trace = read_lines("N 1 - k\n" + bad + "\nE\n");
    EXPECT_THAT(trace.launches, IsEmpty()) << bad;
    EXPECT_THAT(trace.copies, IsEmpty()) << bad;
    EXPECT_FALSE(trace.complete) << bad;
    EXPECT_THAT(trace.problem, HasSubstr("line 3 of the trace cannot be read")) << bad;
  }
}

TEST_F(TraceFileTest, OtherFilesAreRefused) {
  EXPECT_THAT(read("").error().text(), HasSubstr("no trace of this version"));
  EXPECT_THAT(read("kernelpro-trace 2\n").error().text(), HasSubstr("no trace of this version"));
  EXPECT_THAT(read("kernelpro-trace 1").error().text(), HasSubstr("no trace of this version"));
  const Result<std::vector<Trace>> none = read_trace("/nowhere/trace");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().text(), HasSubstr("/nowhere/trace: the program left no trace"));
}

TEST_F(TraceFileTest, AReasonIsAnError) {
  const Result<std::vector<Trace>> traces = read("kernelpro-trace 1\nR no \\x5c CUPTI\n");
  ASSERT_FALSE(traces.ok());
  EXPECT_EQ(traces.error().kind, ErrorKind::environment);
  EXPECT_EQ(traces.error().text(), "the program could not be traced: no \\ CUPTI");
}

TEST_F(TraceFileTest, OnlyFilesOfThatTraceAreListed) {
  for (const char* name : {"trace", "trace.12", "trace.x", "trace.", "trace.12.bak", "other.12"}) {
    ASSERT_TRUE(write_file_unsynced(path().parent_path() / name, std::string(name)));
  }
  EXPECT_THAT(trace_files(path()),
              ElementsAre(path().parent_path() / "trace.12", path().parent_path() / "trace"));
  EXPECT_THAT(trace_files("/nowhere/trace"), IsEmpty());
}

TEST_F(TraceFileTest, ManyPartsAreCutInOneGo) {
  std::string lines = "N 1 - cudaProfilerStart\nN 2 - cudaProfilerStop\nN 3 - k\n";
  for (int i = 0; i < 20'000; ++i) {
    const auto at = [i](int offset) { return std::to_string(100 * i + offset); };
    lines += "A 1 7 " + at(1) + " " + at(0) + " " + at(10) + "\nK 3 0 1 7 " + at(2) + " " + at(20) +
             " " + at(30) + " 1 1 1 1 1 1 1 0 0 0\nA 2 7 " + at(3) + " " + at(40) + " " + at(50) +
             "\n";
  }
  const Result<std::vector<Trace>> traces = read("kernelpro-trace 1\n" + lines + "E\n");
  ASSERT_TRUE(traces.ok()) << traces.error().text();
  ASSERT_THAT(*traces, SizeIs(20'000));
  EXPECT_EQ(traces->back().launches[0].index, 19'999);
  EXPECT_EQ(traces->back().end_ns, 30);
}

TEST_F(TraceFileTest, DamagedFilesNeverGiveTimesOutsideTheTrace) {
  Random random(20);
  for (int round = 0; round < 3000; ++round) {
    const Result<std::vector<Trace>> traces = read("kernelpro-trace 1\n" + mutate(small, random));
    for (const Trace& trace : traces.ok() ? *traces : std::vector<Trace>()) {
      for (const TracedLaunch& launch : trace.launches) {
        EXPECT_LE(0, launch.start_ns);
        EXPECT_LE(launch.start_ns, launch.end_ns);
        EXPECT_LE(launch.end_ns, trace.end_ns);
      }
      const Timeline sums = make_timeline(trace);
      EXPECT_EQ(sums.busy_ns + sums.idle_ns, sums.span_ns);
    }
  }
}

}  // namespace
}  // namespace kernelpro
