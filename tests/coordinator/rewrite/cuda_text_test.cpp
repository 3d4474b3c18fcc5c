#include "coordinator/rewrite/cuda_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/model/tunables.hpp"

namespace kernelpro {
namespace {

using testing::HasSubstr;

const std::string scale = R"(#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

constexpr int BLOCK = 256;  // for (;;) is no loop here

__global__ void scale(const float* x, float* y, int n) {
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) {
    y[i] = 2.0f * x[i];
  }
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* t, int32_t) {
  scale<<<12, BLOCK, 0, static_cast<cudaStream_t>(context->stream)>>>(
      static_cast<const float*>(t[0].data), static_cast<float*>(t[1].data), 7);
  return 0;
}
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

std::string cuda_refusal(const std::string& name, const std::string& source) {
  const auto result = rewrite_cuda(name, source, {});
  return result ? "applied: " + result->front().source : result.error().message;
}

TEST(CudaText, BoundsAKernelByTheConstantThatItIsLaunchedWith) {
  const auto result = rewrite_cuda("cuda_launch_bounds", scale, {});
  ASSERT_TRUE(result);
  ASSERT_EQ(result->size(), 1U);
  EXPECT_EQ(result->front().site, "scale");
  EXPECT_THAT(result->front().source,
              HasSubstr("__global__ __launch_bounds__(BLOCK, KP_BLOCKS_scale) void scale("));
  const auto tunables = parse_tunables(result->front().source);
  ASSERT_TRUE(tunables);
  ASSERT_EQ(tunables->size(), 1U);
  EXPECT_EQ(tunables->front().name, "KP_BLOCKS_scale");
  EXPECT_THAT(tunables->front().values, testing::Contains(tunables->front().current));
}

TEST(CudaText, FindsTheProductOfADim3) {
  const std::string source =
      replaced(replaced(scale, "scale<<<12, BLOCK,", "scale<<<12, threads,"), "  scale<<<",
               "  const dim3 threads(BLOCK / 8, 8);\n  scale<<<");
  const auto result = rewrite_cuda("cuda_launch_bounds", source, {});
  ASSERT_TRUE(result);
  EXPECT_THAT(result->front().source, HasSubstr("__launch_bounds__((BLOCK / 8) * 8, KP_BLOCKS_"));
}

TEST(CudaText, KnowsConstantsHoweverTheyAreDefined) {
  for (const char* definition :
       {"#define BLOCK 256", "static constexpr unsigned BLOCK{256};", "constexpr int BLOCK=256;"}) {
    const std::string source = replaced(scale, "constexpr int BLOCK = 256;", definition);
    EXPECT_TRUE(rewrite_cuda("cuda_launch_bounds", source, {})) << definition;
  }
  for (const char* threads : {"dim3(BLOCK, 1)", "dim3{32, BLOCK / 32}", "(BLOCK * 1)", "64"}) {
    const std::string source =
        replaced(scale, "<<<12, BLOCK,", "<<<12, " + std::string(threads) + ",");
    EXPECT_TRUE(rewrite_cuda("cuda_launch_bounds", source, {})) << threads;
  }
}

TEST(CudaText, IsQuickWithALargeSource) {
  std::string source = scale;
  for (int i = 0; i < 20'000; ++i) {
    source += "int BLOCK_" + std::to_string(i) + "; // <<< and (\n";
  }
  EXPECT_TRUE(rewrite_cuda("cuda_launch_bounds", source, {}));
}

TEST(CudaText, SaysWhyALaunchCannotBeBounded) {
  EXPECT_THAT(cuda_refusal("cuda_launch_bounds", replaced(scale, "<<<12, BLOCK,", "<<<12, n,")),
              HasSubstr("the threads of scale are no constant of the file: \"n\""));
  EXPECT_THAT(
      cuda_refusal("cuda_launch_bounds", replaced(scale, "<<<12, BLOCK,", "<<<12, sizes[0],")),
      HasSubstr("are no constant of the file: \"sizes[0]\""));
  EXPECT_THAT(
      cuda_refusal("cuda_launch_bounds", replaced(scale, "constexpr int BLOCK", "int BLOCK")),
      HasSubstr("are no constant of the file: \"BLOCK\""));
  EXPECT_THAT(cuda_refusal("cuda_launch_bounds", "int x;"), HasSubstr("there is no kernel"));
  EXPECT_THAT(cuda_refusal("cuda_launch_bounds", replaced(scale, "  scale<<<", "  other<<<")),
              HasSubstr("scale is not launched in this source"));
  EXPECT_THAT(
      cuda_refusal("cuda_launch_bounds",
                   replaced(scale, "  return 0;", "  scale<<<1, 32>>>(0, 0, 0);\n  return 0;")),
      HasSubstr("blocks of different sizes"));
  const auto once = rewrite_cuda("cuda_launch_bounds", scale, {});
  ASSERT_TRUE(once);
  EXPECT_THAT(cuda_refusal("cuda_launch_bounds", once->front().source),
              HasSubstr("has launch bounds already"));
  const auto unknown = rewrite_cuda("cuda_unroll", scale, {{"depth", "2"}});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("takes no argument \"depth\""));
}

TEST(CudaText, UnrollsInnermostLoopsOnce) {
  const auto once = rewrite_cuda("cuda_unroll", scale, {});
  ASSERT_TRUE(once);
  EXPECT_THAT(once->front().source,
              HasSubstr("#pragma unroll KP_UNROLL_scale\n  for (int i = blockIdx.x"));
  EXPECT_THAT(cuda_refusal("cuda_unroll", once->front().source),
              HasSubstr("no innermost loop without a pragma"));
}

TEST(CudaText, LeavesOuterLoopsAlone) {
  const std::string source =
      replaced(scale, "y[i] = 2.0f * x[i];", "for (int k = 0; k < 3; ++k)\n      y[i] += x[i];");
  const auto result = rewrite_cuda("cuda_unroll", source, {});
  ASSERT_TRUE(result);
  EXPECT_THAT(result->front().source, HasSubstr("_scale\n    for (int k"));
  EXPECT_THAT(result->front().source, testing::Not(HasSubstr("_scale\n  for (int i")));
}

TEST(CudaText, GivesASiteToEachKernel) {
  const std::string second = replaced(scale, "}  // namespace\n",
                                      "__global__ void other(int* p) {\n"
                                      "  for (int i = 0; i < 9; ++i) {\n    p[i] = 0;\n  }\n}\n");
  const auto all = rewrite_cuda("cuda_unroll", second, {});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 2U);
  const auto one = rewrite_cuda("cuda_unroll", second, {{"site", "other"}});
  ASSERT_TRUE(one);
  ASSERT_EQ(one->size(), 1U);
  EXPECT_EQ(one->front().site, "other");
}

// Nothing in foreign text may crash it or make it run for ever.
TEST(CudaText, SurvivesEveryCutOfASource) {
  for (std::size_t length = 0; length < scale.size(); ++length) {
    for (const std::string& name : cuda_rewriter_names()) {
      static_cast<void>(rewrite_cuda(name, scale.substr(0, length), {}));
      static_cast<void>(rewrite_cuda(name, scale.substr(length), {}));
    }
  }
}

}  // namespace
}  // namespace kernelpro
