// Reports of Nsight Systems in the forms that its versions print them in.
#include "worker/profile/nsys_trace.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdlib>

#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "common/model/timeline.hpp"
#include "worker/profile/mutate.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char gpu_report[] =
    "Generating SQLite file r.sqlite from r.nsys-rep\n"
    "Processing [r.sqlite] with [/opt/nsys/reports/cuda_gpu_trace.py]... \n\n"
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),"
    "DymSMem (MB),Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n"
    "1000,600,123,,,,,,,,,,4.194,6337.593,Pageable,Device,NVIDIA H200 (0),1,,7,"
    "[CUDA memcpy Host-to-Device]\n"
    "2000,500,131,16,2,1,256,1,1,40,0.001,0.050,,,,,NVIDIA H200 (0),1,,7,"
    "\"void k<int, 4>(float *, int)\"\n"
    "2600,100,129,1,1,1,32,1,1,16,0.000,0.000,,,,,NVIDIA H200 (0),1,,13,_Z5otherPf\n"
    "3000,50,135,,,,,,,,,,0.001,20.0,Device,,NVIDIA H200 (0),1,,7,[CUDA memset]\n"
    "4000,70,140,,,,,,,,,,0.002,20.0,Device,Pinned,NVIDIA H200 (0),1,,7,[CUDA memcpy DtoH]\n";

constexpr char api_report[] =
    "Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name\n"
    "900,50,cudaMemcpy,0,123,11,11,20,app\n"
    "1500,30,cudaLaunchKernel,0,131,11,11,20,app\n"
    "1505,20,cuLaunchKernel,0,131,11,11,20,app\n"
    "3900,300,cudaDeviceSynchronize,0,145,11,12,20,app\n";

TEST(NsysTraceTest, BothReportsMakeATrace) {
  const Result<Trace> trace = read_nsys_trace(gpu_report, api_report);
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  EXPECT_TRUE(trace->complete) << trace->problem;
  EXPECT_EQ(trace->origin, "nsys");
  EXPECT_EQ(trace->architecture, "");
  EXPECT_EQ(trace->end_ns, 4070 - 900);
  ASSERT_THAT(trace->launches, SizeIs(2));
  const TracedLaunch& launch = trace->launches[0];
  EXPECT_EQ(launch.name, "void k<int, 4>(float *, int)");
  EXPECT_EQ(launch.index, 1);
  EXPECT_EQ(launch.start_ns, 1100);
  EXPECT_EQ(launch.end_ns, 1600);
  EXPECT_THAT(launch.grid, ElementsAre(16, 2, 1));
  EXPECT_THAT(launch.block, ElementsAre(256, 1, 1));
  EXPECT_EQ(launch.registers, 40);
  EXPECT_EQ(launch.static_shared_bytes, 1000);
  EXPECT_EQ(launch.dynamic_shared_bytes, 50'000);
  EXPECT_EQ(launch.stream, 7U);
  EXPECT_EQ(trace->launches[1].index, 0);
  ASSERT_THAT(trace->copies, SizeIs(2));
  EXPECT_EQ(trace->copies[0].kind, CopyKind::host_to_device);
  EXPECT_EQ(trace->copies[0].bytes, 4'194'000);
  EXPECT_TRUE(trace->copies[0].pageable);
  EXPECT_EQ(trace->copies[1].kind, CopyKind::device_to_host);
  EXPECT_FALSE(trace->copies[1].pageable);
  EXPECT_THAT(trace->fills, SizeIs(1));
  ASSERT_THAT(trace->calls, SizeIs(3));  // the driver's call is inside the run-time's
  EXPECT_EQ(trace->calls[1].kind, CallKind::launch);
  EXPECT_EQ(make_timeline(*trace).median_queue_ns, 2000 - 1530);
}

TEST(NsysTraceTest, UnitsAreThoseOfTheColumns) {
  const Result<Trace> trace = read_nsys_trace(
      "Start(usec),Duration(msec),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,StcSMem (KiB),DymSMem (B),"
      "Bytes (GB),Name\n"
      "1.5,0.25,1,1,1,1,1,1,1,2,100,,k\n"
      "1.5,0.25,2,,,,,,,,,1.5,[CUDA memcpy DtoD]\n",
      "");
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  EXPECT_EQ(trace->end_ns, 250'000);
  EXPECT_EQ(trace->launches[0].static_shared_bytes, 2048);
  EXPECT_EQ(trace->launches[0].dynamic_shared_bytes, 100);
  EXPECT_EQ(trace->copies[0].bytes, 1'500'000'000);
}

TEST(NsysTraceTest, WithoutCallsItIsATraceOfTheGpu) {
  const Result<Trace> trace = read_nsys_trace(gpu_report, "");
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  EXPECT_TRUE(trace->complete);
  EXPECT_THAT(trace->calls, IsEmpty());
  EXPECT_EQ(trace->launches[0].start_ns, 1000);
  const Result<Trace> other = read_nsys_trace(gpu_report, "SKIPPED: no CUDA\n");
  ASSERT_TRUE(other.ok()) << other.error().text();
  EXPECT_THAT(other->problem, HasSubstr("what the host did is not known"));
}

TEST(NsysTraceTest, NsysOwnWordsAreTheError) {
  const Result<Trace> trace =
      read_nsys_trace("Processing...\nSKIPPED: r.sqlite does not contain CUDA trace data.\n", "");
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().text(), "nsys says: SKIPPED: r.sqlite does not contain CUDA trace data.");
}

TEST(NsysTraceTest, OtherTextIsRefused) {
  for (const char* text :
       {"", "\n\n", "a,b,c\n1,2,3\n", "Start (ns),Duration (ns)\n1,2\n", "\"\"\"\""}) {
    const Result<Trace> trace = read_nsys_trace(text, "");
    ASSERT_FALSE(trace.ok()) << text;
    EXPECT_THAT(trace.error().text(), HasSubstr("nsys stats --report cuda_gpu_trace")) << text;
  }
}

TEST(NsysTraceTest, RowsNobodyCanReadAreCounted) {
  const std::string cut = std::string(gpu_report).substr(0, std::string(gpu_report).size() - 30);
  const Result<Trace> trace = read_nsys_trace(
      cut + "\nx,1,1,,,,,,,,,,,,,,,,,,[CUDA memset]\n5000,-5,1,,,,,,,,,,,,,,,,,,k\n", "");
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  EXPECT_FALSE(trace->complete);
  EXPECT_EQ(trace->problem, "3 rows of cuda_gpu_trace cannot be read");
  EXPECT_THAT(trace->launches, SizeIs(2));
}

TEST(NsysTraceTest, SeveralProcessesAreSaid) {
  const Result<Trace> trace =
      read_nsys_trace(gpu_report, std::string(api_report) + "1,1,cudaFree,0,123,99,99,20,other\n");
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  EXPECT_EQ(trace->problem, "2 processes were recorded together");
}

TEST(NsysTraceTest, DamagedReportsNeverGiveTimesOutsideTheTrace) {
  Random random(21);
  for (int round = 0; round < 3000; ++round) {
    const Result<Trace> trace =
        read_nsys_trace(mutate(gpu_report, random), mutate(api_report, random));
    if (!trace.ok()) {
      continue;
    }
    for (const TracedLaunch& launch : trace->launches) {
      EXPECT_LE(0, launch.start_ns);
      EXPECT_LE(launch.start_ns, launch.end_ns);
      EXPECT_LE(launch.end_ns, trace->end_ns);
    }
    const Timeline sums = make_timeline(*trace);
    EXPECT_EQ(sums.busy_ns + sums.idle_ns, sums.span_ns);
  }
}

// A program called nsys, first in PATH, that prints what a test wants.
class NsysReportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(scratch_);
    ASSERT_TRUE(write_file_unsynced(recording(), "recorded"));
    ASSERT_TRUE(write_file_unsynced(scratch_->path() / "gpu.csv", gpu_report));
    ASSERT_TRUE(write_file_unsynced(scratch_->path() / "api.csv", api_report));
    before_ = std::getenv("PATH");
  }
  void TearDown() override { setenv("PATH", before_.c_str(), 1); }

  [[nodiscard]] fs::path recording() const { return scratch_->path() / "r.nsys-rep"; }

  void install_nsys(const std::string& script) const {
    const fs::path program = scratch_->path() / "bin" / "nsys";
    ASSERT_TRUE(make_directories(program.parent_path()));
    ASSERT_TRUE(
        write_file_unsynced(program, "#!/bin/sh\ncd " + scratch_->path().string() + "\n" + script));
    ASSERT_EQ(chmod(program.c_str(), 0755), 0);
    setenv("PATH", (program.parent_path().string() + ":" + before_).c_str(), 1);
  }

 private:
  Result<ScratchDir> scratch_ = ScratchDir::create("nsys-report-test");
  std::string before_;
};

TEST_F(NsysReportTest, TheUsersNsysIsAskedForBothReports) {
  install_nsys(
      "echo \"$@\" >> asked\n"
      "case \"$*\" in *cuda_gpu_trace*) cat gpu.csv;; *) cat api.csv;; esac\n");
  const Result<Trace> trace = read_nsys_report(recording());
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  EXPECT_THAT(trace->launches, SizeIs(2));
  EXPECT_THAT(trace->calls, SizeIs(3));
  const Result<std::string> asked = read_file(recording().parent_path() / "asked");
  ASSERT_TRUE(asked);
  EXPECT_THAT(*asked, HasSubstr("--report cuda_gpu_trace:mangled --format csv"));
}

TEST_F(NsysReportTest, AnOldNsysWithoutMangledNamesIsAskedAgain) {
  install_nsys(
      "case \"$*\" in *:mangled*) echo 'unknown argument' >&2; exit 1;; "
      "*cuda_gpu_trace*) cat gpu.csv;; *) cat api.csv;; esac\n");
  const Result<Trace> trace = read_nsys_report(recording());
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  EXPECT_THAT(trace->launches, SizeIs(2));
}

TEST_F(NsysReportTest, AFailureIsToldInItsWords) {
  install_nsys("echo 'Importation failed: wrong event order' >&2; exit 1\n");
  const Result<Trace> trace = read_nsys_report(recording());
  ASSERT_FALSE(trace.ok());
  EXPECT_THAT(trace.error().text(), HasSubstr("Importation failed: wrong event order"));
}

TEST_F(NsysReportTest, WithoutNsysTheRemedyIsNamed) {
  setenv("PATH", "/nowhere", 1);
  const Result<Trace> trace = read_nsys_report(recording());
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().kind, ErrorKind::environment);
  EXPECT_THAT(trace.error().text(), HasSubstr("needs its program nsys in PATH"));
  EXPECT_THAT(read_nsys_report("/nowhere/r").error().text(), HasSubstr("there is no such file"));
}

}  // namespace
}  // namespace kernelpro
