// Diagnoses on a real GPU: a worker's session, the jail, the tracing library and ncu together.
#include <gmock/gmock.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "common/model/figure_keys.hpp"
#include "common/wire/orders_json.hpp"
#include "gpu/fixture.hpp"
#include "worker/session/session.hpp"

namespace kernelpro {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using namespace kernelpro::testing;

// Neighboring threads are n / 32 elements apart where that is possible.
constexpr char strided[] = R"(
#include "stream.cuh"

__global__ void far_apart(Call call) {
  const int64_t at = blockIdx.x * int64_t{256} + threadIdx.x;
  const int64_t i = call.n % 32 == 0 ? at % 32 * (call.n / 32) + at / 32 : at;
  if (at < call.n) {
    call.y[i] = call.a * call.x[i] + call.b * call.z[i];
  }
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  far_apart<<<blocks_for(call.n), 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
)";

Candidate cuda_candidate(const std::string& name, const std::string& source) {
  Candidate candidate;
  candidate.name = name;
  candidate.backend = Backend::cuda;
  candidate.compiler = "nvcc";
  candidate.options = {"-O3"};
  candidate.source = with_includes(source, gpu_candidates_folder(), ".cuh");
  return candidate;
}

std::vector<std::string> tools_of(const DiagnosisReport& report) {
  std::vector<std::string> out;
  for (const Finding& finding : report.findings) {
    out.push_back(finding.tool);
  }
  return out;
}

class GpuDiagnosis : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) {
      return;
    }
    SessionSettings settings;
    settings.programs = KERNELPRO_BIN_DIR;
    settings.share = KERNELPRO_SOURCE_DIR;
    settings.cache = KERNELPRO_BUILD_DIR "/test-cache";
    session_ = std::make_unique<Session>(settings);
    OpenOrder order;
    order.task = stream_task();
    order.judging.backend = Backend::cuda;
    order.timed = false;
    const Result<nlohmann::json> opened = ask(WorkerOp::open, to_json(order));
    ASSERT_TRUE(opened) << opened.error().text();
  }

  void TearDown() override {
    session_.reset();
    GpuTest::TearDown();
  }

  Result<Diagnosed> diagnose(const DiagnoseOrder& order) {
    const Result<nlohmann::json> reply = ask(WorkerOp::diagnose, to_json(order));
    return reply ? diagnosed_from_json(*reply) : reply.error();
  }

  Result<Diagnosed> diagnose(const Candidate& candidate) {
    DiagnoseOrder order;
    order.kind = DiagnoseKind::candidate;
    order.candidate = candidate;
    return diagnose(order);
  }

 private:
  Result<nlohmann::json> ask(WorkerOp op, const nlohmann::json& body) {
    WorkerRequest request;
    request.id = ++id_;
    request.op = op;
    request.body = std::make_shared<nlohmann::json>(body);
    return session_->handle(request, [](const WorkerEvent&) {}, {});
  }

  std::unique_ptr<Session> session_;
  std::int64_t id_ = 0;
};

// Where this user may not read counters there is nothing to see.
#define SKIP_IF_DENIED(diagnosed)                                                   \
  if ((diagnosed).profile.counters.find("ERR_NVGPUCTRPERM") != std::string::npos) { \
    GTEST_SKIP() << (diagnosed).profile.counters;                                   \
  }

TEST_F(GpuDiagnosis, ACandidateIsProfiledInTheJail) {
  const Result<Diagnosed> diagnosed =
      diagnose(parse_gpu_candidate("honest_baseline.cu").hack.candidate);
  ASSERT_TRUE(diagnosed) << diagnosed.error().text();
  SKIP_IF_DENIED(*diagnosed);
  ASSERT_EQ(diagnosed->profile.counters, "");
  ASSERT_THAT(diagnosed->profile.kernels, SizeIs(1));
  const KernelProfile& kernel = diagnosed->profile.kernels.front();
  EXPECT_THAT(kernel.name, HasSubstr("compute"));
  // Two vectors of four million floats, read from emptied caches.
  const auto read = kernel.figure(figure::dram_read_bytes);
  ASSERT_TRUE(read);
  EXPECT_NEAR(*read, 2 * 4.0 * (1 << 22), 0.15 * 2 * 4.0 * (1 << 22));
  ASSERT_TRUE(kernel.code);
  EXPECT_TRUE(kernel.code->counted);
  EXPECT_THAT(kernel.stalls, Not(IsEmpty()));
  EXPECT_THAT(tools_of(diagnosed->report), Not(Contains("uncoalesced_access")));
}

TEST_F(GpuDiagnosis, AStrideIsFoundWithItsLine) {
  const Result<Diagnosed> diagnosed = diagnose(cuda_candidate("strided.cu", strided));
  ASSERT_TRUE(diagnosed) << diagnosed.error().text();
  SKIP_IF_DENIED(*diagnosed);
  ASSERT_EQ(diagnosed->profile.counters, "");
  ASSERT_THAT(tools_of(diagnosed->report), Contains("uncoalesced_access"));
  for (const Finding& finding : diagnosed->report.findings) {
    if (finding.tool == "uncoalesced_access") {
      EXPECT_GT(finding.predicted_gain, 1.1);
      ASSERT_THAT(finding.places, Not(IsEmpty()));
      EXPECT_GT(finding.places.front().line, 0);
    }
  }
}

TEST_F(GpuDiagnosis, RulesOfNcuStandBesideOurFindings) {
  DiagnoseOrder order;
  order.kind = DiagnoseKind::candidate;
  order.candidate = cuda_candidate("strided.cu", strided);
  order.rules = true;
  const Result<Diagnosed> diagnosed = diagnose(order);
  ASSERT_TRUE(diagnosed) << diagnosed.error().text();
  SKIP_IF_DENIED(*diagnosed);
  ASSERT_THAT(diagnosed->profile.kernels, SizeIs(1));
  EXPECT_THAT(diagnosed->profile.kernels.front().rules, Not(IsEmpty()));
}

TEST_F(GpuDiagnosis, WithoutCountersThereIsTraceAndCode) {
  DiagnoseOrder order;
  order.kind = DiagnoseKind::candidate;
  order.candidate = cuda_candidate("strided.cu", strided);
  order.counters = false;
  const Result<Diagnosed> diagnosed = diagnose(order);
  ASSERT_TRUE(diagnosed) << diagnosed.error().text();
  EXPECT_EQ(diagnosed->profile.counters, "counters were not asked for");
  ASSERT_THAT(diagnosed->profile.kernels, SizeIs(1));
  const KernelProfile& kernel = diagnosed->profile.kernels.front();
  EXPECT_FALSE(kernel.figure(figure::dram_read_bytes));
  ASSERT_TRUE(kernel.code);
  EXPECT_FALSE(kernel.code->counted);
  EXPECT_GT(kernel.duration_ns, 0);
  EXPECT_THAT(tools_of(diagnosed->report), Not(Contains("uncoalesced_access")));
}

TEST_F(GpuDiagnosis, WhatDoesNotPassIsNotProfiled) {
  const Result<Diagnosed> diagnosed =
      diagnose(parse_gpu_candidate("meaning_zeros.cu").hack.candidate);
  ASSERT_FALSE(diagnosed);
  EXPECT_THAT(diagnosed.error().text(), HasSubstr("only what passes is profiled"));
}

}  // namespace
}  // namespace kernelpro
