#include "worker/host/host_code.hpp"

#include <gtest/gtest.h>

namespace kernelpro {
namespace {

HostLoop only_loop(std::string_view text, bool arm = false) {
  const std::vector<HostFunction> functions = parse_objdump(text);
  EXPECT_EQ(functions.size(), 1U);
  const std::vector<FoundLoop> loops = innermost_loops(functions.front(), arm);
  EXPECT_EQ(loops.size(), 1U);
  return loops.front().loop;
}

// What g++ makes of `sum += x[i]` without fast-math.
constexpr char scalar_sum[] =
    "0000000000001180 <sum(float const*, int)>:\n"
    "    1180:\txorps  %xmm0,%xmm0\n"
    "    1183:\taddss  (%rdi),%xmm0\n"
    "    1187:\tadd    $0x4,%rdi\n"
    "    118b:\tcmp    %rax,%rdi\n"
    "    118e:\tjne    1183 <sum(float const*, int)+0x3>\n"
    "    1190:\tret\n";

TEST(HostCode, AScalarSumIsAReductionOfOneElementATurn) {
  const HostLoop loop = only_loop(scalar_sum);
  EXPECT_EQ(loop.begin, 0x1183);
  EXPECT_EQ(loop.end, 0x118e);
  EXPECT_EQ(loop.instructions, 4);
  EXPECT_EQ(loop.scalar, 1);
  EXPECT_EQ(loop.packed, 0);
  EXPECT_EQ(loop.element_bits, 32);
  EXPECT_EQ(loop.loads, 1);
  EXPECT_TRUE(loop.reduction);
  EXPECT_FALSE(loop.recurrence);
  EXPECT_FALSE(loop.chased);
}

TEST(HostCode, PackedArithmeticIsCountedWithItsWidth) {
  const HostLoop loop = only_loop(
      "0000000000001180 <scale>:\n"
      "    1180:\tvmulps (%rdi,%rax,1),%ymm1,%ymm0\n"
      "    1185:\tvmovups %ymm0,(%rsi,%rax,1)\n"
      "    118a:\tadd    $0x20,%rax\n"
      "    118e:\tcmp    %rdx,%rax\n"
      "    1191:\tjne    1180 <scale>\n");
  EXPECT_EQ(loop.scalar, 0);
  EXPECT_EQ(loop.packed, 1);
  EXPECT_EQ(loop.vector_bits, 256);
  EXPECT_EQ(loop.stores, 1);
  EXPECT_EQ(loop.access_bytes, 32 + 32);
  EXPECT_FALSE(loop.reduction);
  EXPECT_FALSE(loop.recurrence);
}

// The place that is looked at next follows from the one before.
TEST(HostCode, ASearchThatHalvesItsRangeIsARecurrence) {
  const HostLoop loop = only_loop(
      "0000000000001180 <search>:\n"
      "    1180:\tlea    (%rdx,%rcx,1),%eax\n"
      "    1183:\tvmovss (%r8),%xmm0\n"
      "    1188:\tsar    %eax\n"
      "    118a:\tmovslq %eax,%rdi\n"
      "    118d:\tvcomiss (%r9,%rdi,4),%xmm0\n"
      "    1193:\tjbe    11c0 <search>\n"
      "    1195:\tmov    %eax,%edx\n"
      "    1197:\tlea    0x1(%rax),%esi\n"
      "    119a:\tcmp    %ecx,%esi\n"
      "    119c:\tjl     1180 <search>\n");
  EXPECT_TRUE(loop.recurrence);
}

TEST(HostCode, AFilterIsARecurrence) {
  const HostLoop loop = only_loop(
      "0000000000001180 <filter>:\n"
      "    1180:\tmulss  %xmm2,%xmm0\n"
      "    1184:\taddss  (%rdi,%rax,4),%xmm0\n"
      "    1189:\tmovss  %xmm0,(%rsi,%rax,4)\n"
      "    118e:\tadd    $0x1,%rax\n"
      "    1192:\tcmp    %rax,%rdx\n"
      "    1195:\tjne    1180 <filter>\n");
  EXPECT_TRUE(loop.recurrence);
  EXPECT_FALSE(loop.reduction);
}

TEST(HostCode, AMultiplyAddCarriesItsAddendOrItsFactor) {
  constexpr char sum[] =
      "0000000000001180 <dot>:\n"
      "    1180:\tvmovss (%rdi,%rax,4),%xmm1\n"
      "    1185:\tvfmadd231ss (%rsi,%rax,4),%xmm1,%xmm0\n"
      "    118b:\tinc    %rax\n"
      "    118e:\tcmp    %rax,%rdx\n"
      "    1191:\tjne    1180 <dot>\n";
  EXPECT_TRUE(only_loop(sum).reduction);
  constexpr char horner[] =
      "0000000000001180 <horner>:\n"
      "    1180:\tvfmadd213ss (%rsi,%rax,4),%xmm1,%xmm0\n"
      "    118b:\tinc    %rax\n"
      "    118e:\tcmp    %rax,%rdx\n"
      "    1191:\tjne    1180 <horner>\n";
  EXPECT_TRUE(only_loop(horner).recurrence);
}

TEST(HostCode, AListIsChasedAndALookupIsIndirect) {
  EXPECT_TRUE(only_loop("0000000000001180 <walk>:\n"
                        "    1180:\tmov    (%rax),%rax\n"
                        "    1183:\ttest   %rax,%rax\n"
                        "    1186:\tjne    1180 <walk>\n")
                  .chased);
  const HostLoop loop = only_loop(
      "0000000000001180 <count>:\n"
      "    1180:\tmovzbl (%rdi),%eax\n"
      "    1183:\tadd    $0x1,%rdi\n"
      "    1187:\taddl   $0x1,(%rsi,%rax,4)\n"
      "    118b:\tcmp    %rdx,%rdi\n"
      "    118e:\tjne    1180 <count>\n");
  EXPECT_EQ(loop.indirect, 1);
  EXPECT_FALSE(loop.chased);
}

TEST(HostCode, ACallIsNamed) {
  const HostLoop loop = only_loop(
      "0000000000001180 <all>:\n"
      "    1180:\tmovss  (%rbx),%xmm0\n"
      "    1184:\tcall   1030 <expf@plt>\n"
      "    1189:\tmovss  %xmm0,(%rbp)\n"
      "    118e:\tadd    $0x4,%rbx\n"
      "    1192:\tcmp    %r12,%rbx\n"
      "    1195:\tjne    1180 <all>\n");
  EXPECT_EQ(loop.calls, std::vector<std::string>{"expf@plt"});
}

TEST(HostCode, OnlyInnermostLoopsAreShown) {
  const std::vector<HostFunction> functions = parse_objdump(
      "0000000000001180 <rows>:\n"
      "    1180:\txor    %eax,%eax\n"
      "    1182:\taddss  (%rdi,%rax,4),%xmm0\n"
      "    1187:\tinc    %rax\n"
      "    118a:\tcmp    %rax,%rdx\n"
      "    118d:\tjne    1182 <rows+0x2>\n"
      "    118f:\tdec    %rcx\n"
      "    1192:\tjne    1180 <rows>\n");
  const std::vector<FoundLoop> loops = innermost_loops(functions.front(), false);
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(loops.front().loop.begin, 0x1182);
}

TEST(HostCode, ArmIsReadToo) {
  const HostLoop scalar = only_loop(
      "0000000000000740 <sum>:\n"
      "     740:\tldr\ts1, [x0], #4\n"
      "     744:\tfadd\ts0, s0, s1\n"
      "     748:\tcmp\tx0, x1\n"
      "     74c:\tb.ne\t740 <sum>  // b.any\n",
      true);
  EXPECT_EQ(scalar.scalar, 1);
  EXPECT_EQ(scalar.element_bits, 32);
  EXPECT_TRUE(scalar.reduction);
  const HostLoop packed = only_loop(
      "0000000000000740 <dot>:\n"
      "     740:\tldr\tq1, [x0, x3]\n"
      "     744:\tldr\tq2, [x1, x3]\n"
      "     748:\tfmla\tv0.4s, v1.4s, v2.4s\n"
      "     74c:\tadd\tx3, x3, #0x10\n"
      "     750:\tcmp\tx3, x2\n"
      "     754:\tb.ne\t740 <dot>\n",
      true);
  EXPECT_EQ(packed.packed, 1);
  EXPECT_EQ(packed.vector_bits, 128);
  EXPECT_TRUE(packed.reduction);
}

TEST(HostCode, TextOfOthersIsNoCode) {
  EXPECT_TRUE(parse_objdump("").empty());
  EXPECT_TRUE(parse_objdump("\n\nDisassembly of section .text:\n").empty());
  EXPECT_TRUE(parse_objdump("0000 <f>:\n zz:\tnop\n :\t\n").empty());
}

// Whatever a line says, it is read or left out.
TEST(HostCode, DamagedLinesDoNoHarm) {
  const std::string whole = scalar_sum;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const char c : {'\0', '(', '%', ',', '<', '{', '\n', '\t'}) {
      std::string damaged = whole;
      damaged[i] = c;
      for (const HostFunction& function : parse_objdump(damaged)) {
        (void)innermost_loops(function, false);
        (void)innermost_loops(function, true);
      }
    }
  }
}

}  // namespace
}  // namespace kernelpro
