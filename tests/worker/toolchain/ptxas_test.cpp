#include "worker/toolchain/ptxas.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

// What nvcc 13.0 says with -Xptxas -v -maxrregcount=16 about templates, a kernel that spills and
// one that calls a device function.
constexpr const char* four_kernels = R"(
ptxas warning : For profile sm_90a adjusting per thread register count of 16 to lower bound of 24
ptxas info    : Overriding maximum register limit 256 for '_ZN2ns5heavyEPKfPfi' with  24 of maxrregcount option
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_ZN2ns5heavyEPKfPfi' for 'sm_90a'
ptxas info    : Function properties for _ZN2ns5heavyEPKfPfi
    656 bytes stack frame, 940 bytes spill stores, 960 bytes spill loads
ptxas info    : Used 24 registers, used 0 barriers, 656 bytes cumulative stack size
ptxas info    : Compile time = 35.911 ms
ptxas info    : Compiling entry function '_Z5callsPfi' for 'sm_90a'
ptxas info    : Function properties for _Z5callsPfi
    128 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 23 registers, used 4 barriers, 128 bytes cumulative stack size
ptxas info    : Compile time = 11.795 ms
ptxas info    : Function properties for _Z6helperfi
    64 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads
ptxas info    : Compiling entry function '_Z4fillIdLi256EEvPT_S0_' for 'sm_90a'
ptxas info    : Function properties for _Z4fillIdLi256EEvPT_S0_
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 14 registers, used 1 barriers, 2048 bytes smem
ptxas info    : Compile time = 6.935 ms
)";

TEST(Ptxas, EachKernelHasItsOwnFigures) {
  const PtxasReport report = read_ptxas(four_kernels);
  ASSERT_EQ(report.kernels.size(), 3U);
  const KernelResources& heavy = report.kernels[0];
  EXPECT_EQ(heavy.kernel, "ns::heavy(float const*, float*, int)");
  EXPECT_EQ(heavy.architecture, "sm_90a");
  EXPECT_EQ(heavy.registers, 24);
  EXPECT_EQ(heavy.spill_stores, 940);
  EXPECT_EQ(heavy.spill_loads, 960);
  EXPECT_EQ(heavy.stack_bytes, 656);
  EXPECT_EQ(heavy.shared_bytes, 0);
  const KernelResources& fill = report.kernels[2];
  EXPECT_EQ(fill.kernel, "void fill<double, 256>(double*, double)");
  EXPECT_EQ(fill.registers, 14);
  EXPECT_EQ(fill.barriers, 1);
  EXPECT_EQ(fill.shared_bytes, 2048);
}

TEST(Ptxas, FiguresOfADeviceFunctionAreNotTheKernels) {
  const PtxasReport report = read_ptxas(four_kernels);
  ASSERT_EQ(report.kernels.size(), 3U);
  EXPECT_EQ(report.kernels[1].kernel, "calls(float*, int)");
  EXPECT_EQ(report.kernels[1].stack_bytes, 128);
  EXPECT_EQ(report.kernels[1].spill_stores, 0);
  EXPECT_EQ(report.kernels[1].barriers, 4);
}

TEST(Ptxas, ConstantMemoryIsCountedWhereItIsToldAndUnknownElsewhere) {
  const PtxasReport report = read_ptxas(
      "ptxas info    : Compiling entry function 'plain_c' for 'sm_80'\n"
      "ptxas info    : Function properties for plain_c\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 10 registers, used 1 barriers, 512 bytes smem, 364 bytes cmem[0], 8 "
      "bytes cmem[2]\n");
  ASSERT_EQ(report.kernels.size(), 1U);
  EXPECT_EQ(report.kernels[0].kernel, "plain_c");
  EXPECT_EQ(report.kernels[0].constant_bytes, 372);
  EXPECT_EQ(read_ptxas(four_kernels).kernels.at(0).constant_bytes, -1);
}

// What nvcc 13.0 says about a kernel whose matrix instructions wait for each other.
TEST(Ptxas, WhatCostsSpeedIsKeptOnceWithThePlainName) {
  const std::string loss =
      "ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are "
      "serialized due to insufficient register resources for the wgmma pipeline in the function ";
  const PtxasReport report = read_ptxas(
      "ptxas info    : (C7517) warpgroup.wait is injected in around line 69 by compiler "
      "to allow use of registers defined by GMMA in function '_ZN2ns5heavyEPKfPfi'\n" +
      loss + "'_ZN2ns5heavyEPKfPfi'\n" + loss + "'_ZN2ns5heavyEPKfPfi'\n");
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_EQ(report.warnings.front(), loss + "'ns::heavy(float const*, float*, int)'");
  EXPECT_EQ(report.rest, "");
  EXPECT_EQ(read_ptxas(four_kernels).warnings.size(), 1U) << "the register count was adjusted";
  std::string many;
  for (int i = 0; i < 20; ++i) {
    many += "ptxas warning : number " + std::to_string(i) + std::string(1000, 'x') + "\n";
  }
  EXPECT_EQ(read_ptxas(many).warnings.size(), 8U);
  EXPECT_EQ(read_ptxas(many).warnings.front().size(), 400U);
}

TEST(Ptxas, OnlyItsInformationIsTakenOutOfTheText) {
  const std::string warning = "candidate.cu(7): warning #177-D: variable \"f\" was declared\n";
  EXPECT_EQ(read_ptxas(warning + four_kernels).rest,
            warning +
                "\nptxas warning : For profile sm_90a adjusting per thread register count of 16 to "
                "lower bound of 24\n");
  EXPECT_EQ(read_ptxas("").rest, "");
}

TEST(Ptxas, DamagedLinesAreNoKernels) {
  const PtxasReport report = read_ptxas(
      "ptxas info    : Used 8 registers\n"
      "    1 bytes stack frame, 2 bytes spill stores\n"
      "ptxas info    : Compiling entry function 'half\n"
      "ptxas info    : Used 99999999999999999999 registers, , used\n"
      "ptxas info\n");
  EXPECT_TRUE(report.kernels.empty());
}

}  // namespace
}  // namespace kernelpro
