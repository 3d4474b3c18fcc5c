// What is read of the output of others: llvm-mca, callgrind, compilers.
#include <gtest/gtest.h>

#include "worker/host/callgrind.hpp"
#include "worker/host/mca.hpp"
#include "worker/host/products.hpp"
#include "worker/host/remarks.hpp"

namespace kernelpro {
namespace {

TEST(Mca, CyclesAreThoseOfATurn) {
  const Result<std::vector<McaCycles>> read = parse_mca(
      R"({"CodeRegions":[{"SummaryView":{"BlockRThroughput":1,"DispatchWidth":6,"Iterations":100,
          "TotalCycles":403,"TotaluOps":300}}]})");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 1U);
  EXPECT_DOUBLE_EQ(read->front().chain, 4.03);
  EXPECT_DOUBLE_EQ(read->front().units, 1);
}

TEST(Mca, ALoopThatDividesIsSimulatedWithProductsToo) {
  FoundLoop found;
  found.body = {parse_host_instruction(0, "vdivss %xmm1,%xmm0,%xmm2", false)};
  found.loop.divisions = 1;
  EXPECT_EQ(mca_input({&found}),
            "# LLVM-MCA-BEGIN turn0\nvdivss %xmm1,%xmm0,%xmm2\n# LLVM-MCA-END turn0\n"
            "# LLVM-MCA-BEGIN products0\nvmulss %xmm1,%xmm0,%xmm2\n"
            "# LLVM-MCA-END products0\n");
}

TEST(Products, HaveTheOperandsOfTheDivision) {
  const std::vector<std::pair<std::string, std::string>> lines = {
      {"divsd %xmm1,%xmm0", "mulsd %xmm1,%xmm0"},
      {"vdivps 16(%rax),%ymm0,%ymm1", "vmulps 16(%rax),%ymm0,%ymm1"},
      {"idivl %ecx", "imull %ecx"},
      {"div %rcx", "mul %rcx"},
      {"sqrtss %xmm1,%xmm0", "cvtdq2ps %xmm1,%xmm0"},
      {"vsqrtps %ymm1,%ymm0", "vcvtdq2ps %ymm1,%ymm0"},
      {"vsqrtss %xmm2,%xmm1,%xmm0", "vmulss %xmm2,%xmm1,%xmm0"},
      {"vsqrtsd (%rax,%rcx,8),%xmm1,%xmm0", "vmulsd (%rax,%rcx,8),%xmm1,%xmm0"},
      {"fdiv v0.4s, v1.4s, v2.4s", "fmul v0.4s, v1.4s, v2.4s"},
      {"fsqrt d0, d1", "frintn d0, d1"},
      {"udiv w0, w1, w2", "mul w0, w1, w2"}};
  for (const auto& [division, product] : lines) {
    EXPECT_EQ(product_in_place_of(division), product);
  }
}

TEST(Mca, OtherTextIsAnError) {
  for (const char* text :
       {"", "{", "[]", "{}", R"({"CodeRegions":3})", R"({"CodeRegions":[{}]})"}) {
    const Result<std::vector<McaCycles>> read = parse_mca(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().message, "its JSON is not as expected");
  }
}

TEST(Callgrind, CountsAreByModuleAndAddress) {
  const Result<CallgrindCounts> read = parse_callgrind(
      "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\n"
      "ob=/tmp/app\nfl=app.cpp\nfn=main\n"
      "0x1183 3 1000 1000 0 0 63 0 0 2 0\n"
      "0x118e 3 1000\n"
      "cfn=exp\ncalls=5 0x10\n0x118e 3 70000 1 1 1 1 1 1 1 1\n"
      "0x1183 4 10 10 0 0 1\n");
  ASSERT_TRUE(read);
  const auto& app = read->at("/tmp/app");
  EXPECT_DOUBLE_EQ(app.at(0x1183).executed, 1010);
  EXPECT_DOUBLE_EQ(app.at(0x1183).accesses, 1010);
  EXPECT_DOUBLE_EQ(app.at(0x1183).first_misses, 64);
  EXPECT_DOUBLE_EQ(app.at(0x1183).last_misses, 2);
  EXPECT_DOUBLE_EQ(app.at(0x118e).executed, 1000);
}

TEST(Callgrind, OtherTextIsAnError) {
  EXPECT_FALSE(parse_callgrind(""));
  EXPECT_FALSE(parse_callgrind("0x12 3 4\n"));
  EXPECT_EQ(parse_callgrind("ob=x\n").error().message, "this is no file of callgrind");
}

TEST(Remarks, ReasonsOfBothCompilersAreKept) {
  const std::vector<CompilerRemark> read = parse_remarks(
      "candidate.cpp:7:21: missed: couldn't vectorize loop\n"
      "candidate.cpp:7:21: missed: not vectorized: complicated access pattern.\n"
      "candidate.cpp:7:21: missed: not vectorized: complicated access pattern.\n"
      "/usr/include/c++/12/bits/x.h:9:1: missed: not vectorized: no grouped stores\n"
      "./candidate.cpp:9:3: remark: loop not vectorized: cannot prove it is safe to reorder "
      "floating-point operations [-Rpass-analysis=loop-vectorize]\n",
      "candidate.cpp");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].line, 7);
  EXPECT_EQ(read[0].text, "not vectorized: complicated access pattern.");
  EXPECT_EQ(read[1].line, 9);
  EXPECT_EQ(read[1].text,
            "loop not vectorized: cannot prove it is safe to reorder floating-point operations");
}

}  // namespace
}  // namespace kernelpro
