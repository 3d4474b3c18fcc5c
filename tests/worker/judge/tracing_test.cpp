#include "worker/judge/tracing.hpp"

#include <gtest/gtest.h>

namespace kernelpro {
namespace {

BuildRecord build_with(const std::vector<std::string>& kernels) {
  BuildRecord build;
  for (const std::string& name : kernels) {
    KernelResources kernel;
    kernel.kernel = name;
    build.kernels.push_back(kernel);
  }
  return build;
}

runner::Trace trace_of(const std::vector<std::pair<const char*, std::int64_t>>& kernels) {
  runner::Trace trace{};
  for (const auto& [name, ns] : kernels) {
    trace.kernels[trace.count++] = {runner::name_hash(name), ns};
  }
  trace.launches = trace.count;
  return trace;
}

TEST(Tracing, CountsTheTimeInKernelsOfTheCandidatesOwnSource) {
  const BuildRecord build = build_with({"relu(float*)", "tail(int)"});
  EXPECT_DOUBLE_EQ(own_share(trace_of({{"relu(float*)", 75}, {"cublas_gemm", 25}}), build), 0.75);
  EXPECT_DOUBLE_EQ(own_share(trace_of({{"relu(float*)", 3}, {"tail(int)", 1}}), build), 1);
  EXPECT_DOUBLE_EQ(own_share(trace_of({{"cublas_gemm", 25}}), build), 0);
  EXPECT_DOUBLE_EQ(own_share({}, build), 0);
}

TEST(Tracing, SurvivesAReplyThatSaysNonsense) {
  runner::Trace trace = trace_of({{"relu(float*)", -5}});
  trace.count = 0xffffffff;
  EXPECT_DOUBLE_EQ(own_share(trace, build_with({"relu(float*)"})), 0);
}

}  // namespace
}  // namespace kernelpro
