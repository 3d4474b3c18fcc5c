// A CUDA program on a real GPU with the tracing library in it: every figure of the trace is known
// from the program's source.
#include <gmock/gmock.h>

#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "common/model/timeline.hpp"
#include "gpu/fixture.hpp"
#include "worker/profile/trace_file.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char program[] = R"(
#include <cuda_profiler_api.h>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
namespace {
enum class Mode { plain, odd };
template <Mode M> __global__ void scale(float* x, int n) {
  __shared__ float s[256];
  s[threadIdx.x] = blockIdx.x * 256 + threadIdx.x < n ? x[blockIdx.x * 256 + threadIdx.x] : 0;
  __syncthreads();
  if (blockIdx.x * 256 + threadIdx.x < n) x[blockIdx.x * 256 + threadIdx.x] = 2 * s[255 - threadIdx.x];
}
}
__global__ void warm(float* x) { x[threadIdx.x] = 1; }
int main(int count, char** words) {
  const int n = 1 << 20;
  float* x = nullptr;
  cudaMalloc(&x, n * sizeof(float));
  std::vector<float> host(n);
  warm<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  if (count > 1) cudaProfilerStart();
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemsetAsync(x, 0, 4096);
  for (int i = 0; i < 5; ++i) scale<Mode::odd><<<n / 256, 256>>>(x, n);
  cudaDeviceSynchronize();
  if (count > 1) cudaProfilerStop();
  warm<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  if (count > 1 && words[1] == std::string("crash")) std::abort();
  std::puts("ran");
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
)";

class GpuTrace : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) {
      return;
    }
    ASSERT_TRUE(scratch_);
    ASSERT_TRUE(write_file_unsynced(scratch_->path() / "program.cu", program));
    const std::vector<Compiler>& compilers = toolchain_->compilers();
    const auto nvcc = std::find_if(compilers.begin(), compilers.end(), is_cuda);
    ASSERT_NE(nvcc, compilers.end());
    const Finished built = run({nvcc->path, "-arch=native", "-o", executable(),
                                (scratch_->path() / "program.cu").string()},
                               {});
    ASSERT_TRUE(built.succeeded()) << built.errors;
  }

  [[nodiscard]] std::string executable() const { return (scratch_->path() / "program").string(); }
  [[nodiscard]] fs::path file() const { return scratch_->path() / "trace"; }

  static Finished run(std::vector<std::string> arguments,
                      std::map<std::string, std::string> environment) {
    Command command;
    command.arguments = std::move(arguments);
    command.environment = std::move(environment);
    command.inherit_environment = true;
    const Result<Finished> done = run_command(command);
    EXPECT_TRUE(done.ok()) << done.error().text();
    return done.ok() ? *done : Finished();
  }

  [[nodiscard]] Finished run_traced(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), executable());
    return run(std::move(arguments),
               {{"CUDA_INJECTION64_PATH", KERNELPRO_BIN_DIR "/libkernelpro_trace.so"},
                {"KERNELPRO_TRACE_FILE", file().string()},
                {"KERNELPRO_CUPTI", cupti_library(toolchain_->compilers()).string()}});
  }

 private:
  Result<ScratchDir> scratch_ = ScratchDir::create("gpu-trace-test");
};

TEST_F(GpuTrace, AWholeProgramIsRecorded) {
  const Finished done = run_traced({});
  EXPECT_TRUE(done.succeeded()) << done.errors;
  EXPECT_EQ(done.output, "ran\n");
  const Result<std::vector<Trace>> traces = read_trace(file());
  ASSERT_TRUE(traces.ok()) << traces.error().text();
  ASSERT_THAT(*traces, SizeIs(1));
  const Trace& trace = traces->front();
  EXPECT_TRUE(trace.complete) << trace.problem;
  EXPECT_THAT(
      gpu_->description().architecture,
      HasSubstr(trace.architecture.substr(std::min<std::size_t>(3, trace.architecture.size()))));
  ASSERT_THAT(trace.launches, SizeIs(7));
  const TracedLaunch& scale = trace.launches[1];
  EXPECT_THAT(scale.name, HasSubstr("5scale"));
  EXPECT_THAT(scale.grid, ElementsAre(4096, 1, 1));
  EXPECT_THAT(scale.block, ElementsAre(256, 1, 1));
  EXPECT_GT(scale.registers, 0);
  EXPECT_GE(scale.static_shared_bytes, 1024);
  EXPECT_NE(scale.module, "");
  for (std::size_t i = 0; i < trace.launches.size(); ++i) {
    EXPECT_EQ(trace.launches[i].index, static_cast<std::int64_t>(i));
    EXPECT_EQ(trace.launches[i].module, scale.module);
  }
  ASSERT_THAT(trace.copies, SizeIs(1));
  EXPECT_EQ(trace.copies[0].kind, CopyKind::host_to_device);
  EXPECT_EQ(trace.copies[0].bytes, 4 << 20);
  EXPECT_TRUE(trace.copies[0].pageable);
  ASSERT_THAT(trace.fills, SizeIs(1));
  EXPECT_EQ(trace.fills[0].bytes, 4096);
  const Timeline sums = make_timeline(trace);
  EXPECT_EQ(sums.launching.count, 7);
  EXPECT_GE(sums.synchronizing.count, 2);  // the last may begin when all is done
  EXPECT_TRUE(sums.median_queue_ns);
  ASSERT_THAT(sums.kernels, Not(SizeIs(0)));
  EXPECT_EQ(sums.kernels[0].name, scale.name);
}

TEST_F(GpuTrace, OnlyThePartBetweenStartAndStopCounts) {
  EXPECT_TRUE(run_traced({"part"}).succeeded());
  const Result<std::vector<Trace>> traces = read_trace(file());
  ASSERT_TRUE(traces.ok()) << traces.error().text();
  ASSERT_THAT(*traces, SizeIs(1));
  const Trace& trace = traces->front();
  EXPECT_TRUE(trace.complete) << trace.problem;
  ASSERT_THAT(trace.launches, SizeIs(5));
  EXPECT_EQ(trace.launches[0].index, 1);
  EXPECT_THAT(trace.copies, SizeIs(1));
}

TEST_F(GpuTrace, AProgramThatCrashesLeavesAFileThatCanBeRead) {
  EXPECT_EQ(run_traced({"crash"}).signal, SIGABRT);
  const Result<std::vector<Trace>> traces = read_trace(file());
  ASSERT_TRUE(traces.ok()) << traces.error().text();
  EXPECT_FALSE(traces->front().complete);
}

}  // namespace
}  // namespace kernelpro
