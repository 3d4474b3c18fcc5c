#include "worker/profile/code_facts.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "common/base/random.hpp"
#include "worker/profile/assemble.hpp"
#include "worker/profile/data.hpp"

namespace kernelpro {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

std::vector<Instruction> real_code(const std::string& file, const std::string& function) {
  Result<std::vector<CodeFunction>> functions =
      parse_cuobjdump(data(file), {.architecture = "sm_90", .function = function});
  return std::move(functions->front().code);
}

CodeFacts facts_of(const std::string& lines) {
  return code_facts(assemble(lines));
}

// A loop of these lines that goes on while P0 holds.
std::string loop(const std::string& body) {
  return "top:\n" + body + "\n@P0 BRA `(top)\nEXIT\nend:\nBRA `(end)\nNOP\n";
}

double dot_steps(const std::string& body) {
  return facts_of(loop(body)).dot_steps;
}

TEST(CodeFacts, OfAPlainMatrixProduct) {
  const CodeFacts facts = code_facts(real_code("product.cuobjdump", "_Z2mmPfPKfS1_i"));
  EXPECT_FALSE(facts.counted);
  EXPECT_EQ(facts.instructions, 0xc40 / 16);  // without what pads it
  EXPECT_EQ(facts.mix.at("load_global"), 58);
  EXPECT_EQ(facts.mix.at("fp32"), 29);  // none of the moves by HFMA2
  EXPECT_EQ(facts.mix.at("store_global"), 1);
  EXPECT_FALSE(facts.mix.contains("fp16"));
  EXPECT_FALSE(facts.mix.contains("other"));
  ASSERT_EQ(facts.loops.size(), 3u);
  const CodeLoop& main = facts.loops[0];
  EXPECT_EQ(main.begin, 0x1f0);
  EXPECT_EQ(main.end, 0x670);
  EXPECT_EQ(main.depth, 1);
  EXPECT_EQ(main.instructions, 73);
  EXPECT_EQ(main.global_loads, 32);
  EXPECT_EQ(main.loads_in_flight, 16);
  EXPECT_EQ(main.dot_steps, 16);
  EXPECT_FALSE(main.executed.has_value());
  EXPECT_EQ(facts.loops[2].global_loads, 2);
  EXPECT_EQ(facts.loops[2].loads_in_flight, 2);
  EXPECT_EQ(facts.loops[2].dot_steps, 1);
  EXPECT_EQ(facts.dot_steps, 21);
}

TEST(CodeFacts, CountByWarpsWhereThereAreCounters) {
  std::vector<Instruction> code = real_code("product.cuobjdump", "_Z2mmPfPKfS1_i");
  for (Instruction& one : code) {
    one.executed = one.offset >= 0x1f0 && one.offset <= 0x670 ? 64.0 : 1.0;
  }
  const CodeFacts facts = code_facts(code);
  EXPECT_TRUE(facts.counted);
  EXPECT_EQ(facts.mix.at("load_global"), 32 * 64 + 26);
  EXPECT_EQ(facts.dot_steps, 16 * 64 + 5);
  EXPECT_EQ(facts.loops[0].executed, 64);
  EXPECT_EQ(facts.loops[0].dot_steps, 16);
  EXPECT_EQ(facts.instructions, 196);
}

TEST(CodeFacts, FindTheSlowPathOfADivisionByNameAndByCode) {
  EXPECT_EQ(code_facts(real_code("kernels.cuobjdump", "_Z7stridedPfPKfii")).slow_divisions, 1);
  const std::string behind = R"(
    EXIT
    slow:
    MUFU.RCP R4, R5
    FFMA R4, R4, R4, R4
    RET.REL.NODEC R2 0x0
  )";
  EXPECT_EQ(facts_of("CALL.REL.NOINC 0x30\nCALL.REL.NOINC 0x30" + behind).slow_divisions, 2);
  // A function of the user's that has a reciprocal in it.
  EXPECT_EQ(facts_of("CALL.REL.NOINC 0x20\nEXIT\nMUFU.RCP R4, R5\nSTG.E desc[UR4][R2.64], R4\n"
                     "RET.REL.NODEC R2 0x0\n")
                .slow_divisions,
            0);
  EXPECT_EQ(facts_of("CALL.REL.NOINC `($_Z6kernelPf$_Z5otherf)\nEXIT\n").slow_divisions, 0);
  EXPECT_EQ(
      facts_of("CALL.REL.NOINC `($__internal_0_$__cuda_sm3x_div_rn_noftz_f32_slowpath)\nEXIT\n")
          .slow_divisions,
      1);
}

TEST(CodeFacts, NameEachKindOfInstruction) {
  const CodeFacts facts = facts_of(R"(
    HMMA.16816.F32 R4, R8, R12, R4
    IMMA.16832.S8.S8 R4, R8.ROW, R12.COL, R4
    DMMA.8x8x4 R4, R8, R12, R4
    HGMMA.64x128x16.F32 R24, gdesc[UR8], R24, gsb0
    IGMMA.64x128x32.S8.S8 R24, gdesc[UR8], R24, gsb0
    QGMMA.64x128x32.F32.E4M3.E4M3 R24, gdesc[UR8], R24, gsb0
    UTMALDG.2D [UR8], [UR4]
    UTMASTG.2D [UR8], [UR4]
    UBLKCP.S.G [UR8], [UR4], UR6
    LDGSTS.E.BYPASS.LTC128B.128 [R4], desc[UR4][R2.64]
    ATOMG.E.ADD.STRONG.GPU PT, R4, desc[UR4][R2.64], R5
    ATOMS.ADD R4, [R2], R5
    REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R7
    SHFL.DOWN PT, R4, R5, 0x10, 0x1f
    VOTE.ANY R4, PT, P0
    SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R4+URZ], R5
    BAR.SYNC.DEFER_BLOCKING 0x0
    MUFU.EX2 R4, R5
    DFMA R4, R6, R8, R4
    F2F.F64.F32 R4, R6
    F2F.F32.F64 R4, R6
    F2F.F16.F32 R4, R6
    HADD2 R4, R5, R6
    HADD2.F32 R4, -RZ, R5.H0_H0
    LDL.64 R4, [R1]
    STL [R1], R4
    LDC R1, c[0x0][0x28]
    UIADD3 UR4, UR4, 0x1, URZ
    IMAD.MOV.U32 R2, RZ, RZ, R4
    IMAD R2, R3, R4, R5
    MADEUP.X R1, R2
    EXIT
  )");
  EXPECT_THAT(facts.mix,
              UnorderedElementsAre(
                  Pair("hmma", 1), Pair("imma", 1), Pair("dmma", 1), Pair("hgmma", 1),
                  Pair("igmma", 1), Pair("qgmma", 1), Pair("tma_load", 1), Pair("tma_store", 1),
                  Pair("bulk_copy", 1), Pair("cp_async", 1), Pair("atomic_global", 1),
                  Pair("atomic_shared", 1), Pair("reduction_global", 1), Pair("shuffle", 1),
                  Pair("vote", 1), Pair("mbarrier", 1), Pair("barrier", 1), Pair("special", 1),
                  Pair("fp64", 1), Pair("conversion", 4), Pair("fp16", 1), Pair("load_local", 1),
                  Pair("store_local", 1), Pair("load_constant", 1), Pair("uniform", 1),
                  Pair("move", 1), Pair("integer", 1), Pair("other", 1), Pair("branch", 1)));
  EXPECT_EQ(facts.fp64_conversions, 2);
  EXPECT_FALSE(facts.has_lines);
}

TEST(CodeFacts, TellHowWideMemoryIsAccessed) {
  const CodeFacts facts = facts_of(R"(
    LDG.E.U8 R4, desc[UR4][R2.64]
    LDG.E.S16 R4, desc[UR4][R2.64]
    LDG.E.CONSTANT R4, desc[UR4][R2.64]
    LDG.E.LTC128B.64 R4, desc[UR4][R2.64]
    LDG.E.128 R4, desc[UR4][R2.64]
    LD.E R4, [R2.64]
    LDS.U.128 R4, [R2]
    LDSM.16.M88.4 R4, [R2]
    LDSM.16.MT88.2 R4, [R2]
    STSM.16.M88 [R2], R4
    LDGSTS.E.BYPASS.128 [R4], desc[UR4][R2.64]
    LDGSTS.E [R4], desc[UR4][R2.64]
    ATOMG.E.ADD.F64.RN.STRONG.GPU PT, R4, desc[UR4][R2.64], R6
    UTMALDG.3D [UR8], [UR4]
    EXIT
  )");
  std::vector<int> bits;
  for (const MemoryInstruction& one : facts.memory) {
    bits.push_back(one.bits);
  }
  EXPECT_THAT(bits, ElementsAre(8, 16, 32, 64, 128, 32, 128, 128, 64, 32, 128, 32, 64, 0));
  EXPECT_EQ(facts.memory[6].space, Space::shared);
  EXPECT_EQ(facts.memory[9].access, Access::store);
  EXPECT_EQ(facts.memory[10].access, Access::async_copy);
  EXPECT_EQ(facts.memory[10].space, Space::global);
  EXPECT_EQ(facts.memory[12].access, Access::atomic);
  EXPECT_EQ(facts.memory[13].access, Access::bulk_copy);
  EXPECT_EQ(facts.memory[2].offset, 0x20);
  EXPECT_EQ(facts.memory[2].loop, -1);
}

TEST(CodeFacts, KeepTheMemoryInstructionsThatRunMost) {
  std::vector<Instruction> code;
  for (int i = 0; i < 1000; ++i) {
    Instruction one =
        *parse_instruction(i % 2 == 0 ? "LDG.E R4, desc[UR4][R2.64]" : "LDC R4, c[0x0][0x210]");
    one.offset = i * 16;
    one.executed = i % 2 == 0 ? i : 1'000'000;
    code.push_back(one);
  }
  const CodeFacts facts = code_facts(code);
  ASSERT_EQ(facts.memory.size(), 256u);
  EXPECT_EQ(facts.memory.front().executed, 488);
  EXPECT_EQ(facts.memory.back().executed, 998);
  EXPECT_EQ(facts.memory.back().space, Space::global);
}

TEST(CodeLoops, NestAndAreNotMadeOfPadding) {
  const CodeFacts facts = facts_of(R"(
    outer:
    LDG.E R4, desc[UR4][R2.64]
    BAR.SYNC.DEFER_BLOCKING 0x0
    inner:
    LDG.E R5, desc[UR4][R6.64]
    FADD R4, R4, R5
    @P0 BRA `(inner)
    BAR.SYNC.DEFER_BLOCKING 0x0
    @P2 BRA `(outer)
    @P1 BRA `(outer)
    EXIT
    end:
    BRA `(end)
    NOP
    NOP
  )");
  ASSERT_EQ(facts.loops.size(), 2u);
  EXPECT_EQ(facts.loops[0].depth, 1);
  EXPECT_EQ(facts.loops[0].begin, 0);
  EXPECT_EQ(facts.loops[0].end, 0x70);  // two branches to one target are one loop
  EXPECT_EQ(facts.loops[0].global_loads, 1);
  EXPECT_EQ(facts.loops[0].barriers, 2);
  EXPECT_EQ(facts.loops[1].depth, 2);
  EXPECT_EQ(facts.loops[1].begin, 0x20);
  EXPECT_EQ(facts.loops[1].global_loads, 1);
  EXPECT_EQ(facts.loops[1].barriers, 0);
  EXPECT_EQ(facts.memory[0].loop, 0);
  EXPECT_EQ(facts.memory[1].loop, 1);
  EXPECT_EQ(facts.instructions, 9);
}

TEST(CodeLoops, AreNotMadeOfColdCodeThatGoesBack) {
  const CodeFacts facts = facts_of(R"(
    top:
    LDG.E R4, desc[UR4][R2.64]
    BRA.DIV UR4, `(cold)
    SHFL.DOWN PT, R5, R4, 0x1, 0x1f
    back:
    FADD R6, R6, R5
    @P0 BRA `(top)
    EXIT
    cold:
    MOV R7, R4
    WARPSYNC.COLLECTIVE R8, `(cold)
    BRA `(back)
  )");
  ASSERT_EQ(facts.loops.size(), 1u);
  EXPECT_EQ(facts.loops[0].begin, 0);
  EXPECT_EQ(facts.loops[0].end, 0x40);
}

TEST(CodeLoops, WithoutTargetsThatLieInTheCodeAreNone) {
  EXPECT_EQ(
      facts_of("MOV R1, R2\n@P0 BRA 0x7f58077a0000\nBRA `(.L_x_99)\nBRX R4\nBRA\n").loops.size(),
      0u);
  EXPECT_EQ(code_facts({}).instructions, 0);
  EXPECT_EQ(facts_of("MOV R1, R2\nMOV R1, R2\n@P0 BRA 0x8\nEXIT\n").loops.size(), 0u);
}

TEST(LoadsInFlight, AreThoseBeforeTheFirstUse) {
  const auto in_flight = [](const std::string& body) {
    return facts_of(loop(body)).loops.at(0).loads_in_flight;
  };
  EXPECT_EQ(in_flight("LDG.E R4, desc[UR4][R2.64]\nFADD R5, R5, R4\n"
                      "LDG.E R4, desc[UR4][R2.64]\nFADD R5, R5, R4"),
            1);
  EXPECT_EQ(in_flight("LDG.E R4, desc[UR4][R2.64]\nLDG.E R6, desc[UR4][R2.64]\n"
                      "FADD R5, R5, R4\nFADD R5, R5, R6"),
            2);
  // A wide load defines four registers; the fourth is used.
  EXPECT_EQ(in_flight("LDG.E.128 R4, desc[UR4][R2.64]\nFADD R9, R9, R7\n"
                      "LDG.E.128 R12, desc[UR4][R2.64]\nFADD R9, R9, R12"),
            1);
  // An address is a use.
  EXPECT_EQ(in_flight("LDG.E.64 R4, desc[UR4][R2.64]\nLDG.E R6, desc[UR4][R4.64]\n"
                      "FADD R5, R5, R6"),
            1);
  // The second register of an address as well.
  EXPECT_EQ(in_flight("LDG.E R5, desc[UR4][R2.64]\nLDG.E R6, desc[UR4][R4.64]\n"
                      "FADD R7, R7, R6"),
            1);
  // A register is not written again before its load is back.
  EXPECT_EQ(in_flight("LDG.E R4, desc[UR4][R2.64]\nMOV R4, RZ\nLDG.E R5, desc[UR4][R2.64]\n"
                      "MOV R5, RZ"),
            1);
  // Loads for the next turn.
  EXPECT_EQ(in_flight("FADD R5, R5, R4\nFADD R5, R5, R6\n"
                      "LDG.E R4, desc[UR4][R2.64]\nLDG.E R6, desc[UR4][R2.64]"),
            2);
  // Local and shared memory is not what is waited for here.
  EXPECT_EQ(in_flight("LDL R4, [R1]\nLDS R6, [R2]\nFADD R5, R4, R6"), 0);
}

TEST(LoadsInFlight, OfCopiesLastUntilTheirGroupIsWaitedFor) {
  const auto in_flight = [](const std::string& wait) {
    return facts_of(loop("LDGSTS.E.128 [R4], desc[UR4][R2.64]\n"
                         "LDGSTS.E.128 [R4+0x10], desc[UR4][R2.64+0x10]\nLDGDEPBAR\n" +
                         wait + "\nBAR.SYNC.DEFER_BLOCKING 0x0"))
        .loops.at(0)
        .loads_in_flight;
  };
  EXPECT_EQ(in_flight("DEPBAR.LE SB0, 0x0"), 2);
  EXPECT_EQ(in_flight("DEPBAR.LE SB0, 0x1"), 4);
  EXPECT_EQ(in_flight("DEPBAR.LE SB0, 0x2"), 6);
  EXPECT_EQ(in_flight("SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [R4+URZ], R5"), 2);
}

TEST(DotSteps, OfATiledProductWithBlocksInRegisters) {
  // Reads the next turn's values behind the products, as compilers do.
  const CodeFacts facts = facts_of(R"(
    LDS.128 R4, [R2]
    LDS.128 R8, [R3]
    top:
    FFMA R16, R4.reuse, R8, R16
    FFMA R17, R4, R9, R17
    FFMA R18, R5.reuse, R8, R18
    FFMA R19, R5, R9, R19
    LDG.E.128 R24, desc[UR4][R20.64]
    LDS.128 R4, [R2+0x100]
    LDS.128 R8, [R3+0x100]
    BAR.SYNC.DEFER_BLOCKING 0x0
    STS.128 [R22], R24
    @P0 BRA `(top)
    EXIT
  )");
  ASSERT_EQ(facts.loops.size(), 1u);
  EXPECT_EQ(facts.loops[0].dot_steps, 4);
}

TEST(DotSteps, SeeThroughMovesAndConversions) {
  EXPECT_EQ(dot_steps("LDG.E.U16 R4, desc[UR4][R2.64]\nLDG.E.U16 R5, desc[UR4][R6.64]\n"
                      "HADD2.F32 R4, -RZ, R4.H0_H0\nHADD2.F32 R5, -RZ, R5.H0_H0\n"
                      "FFMA R8, R4, R5, R8"),
            1)
      << "halves";
  EXPECT_EQ(dot_steps("LDG.E R4, desc[UR4][R2.64]\nLDG.E R5, desc[UR4][R6.64]\n"
                      "IMAD.U32 R9, R4, 0x10000, RZ\nIMAD.U32 R10, R5, 0x10000, RZ\n"
                      "FFMA R8, R9, R10, R8\n"
                      "PRMT R4, R4, 0x7632, R4\nLOP3.LUT R5, R5, 0xffff0000, RZ, 0xc0, !PT\n"
                      "IMAD.U32 R4, R4, 0x10000, RZ\nFFMA R8, R4, R5, R8"),
            2)
      << "bfloat16";
  EXPECT_EQ(dot_steps("LDG.E R4, desc[UR4][R2.64]\nLDG.E R6, desc[UR4][R12.64]\n"
                      "F2F.F64.F32 R4, R4\nF2F.F64.F32 R6, R6\nDFMA R8, R4, R6, R8"),
            1)
      << "double";
  EXPECT_EQ(dot_steps("LDS.64 R4, [R2]\nLDS.64 R6, [R3]\nHFMA2 R8, R4, R6, R8\n"
                      "HFMA2.MMA R9, R5, R7, R9"),
            2)
      << "packed halves";
  EXPECT_EQ(dot_steps("LDG.E R4, desc[UR4][R2.64]\nSHFL.IDX PT, R5, R4, R10, 0x1f\n"
                      "LDS R6, [R3]\nMOV R7, R6\nFFMA R8, R5, R7, R8"),
            1)
      << "shuffle";
  EXPECT_EQ(dot_steps("LDG.E R4, desc[UR4][R2.64]\nLDS R5, [R3]\nFADD.FTZ R6, -RZ, R4\n"
                      "FFMA R8, R6, R5, R8"),
            1)
      << "a move by addition";
  EXPECT_EQ(dot_steps("MOV R4, RZ\n@P1 LDG.E R4, desc[UR4][R2.64]\nLDG.E R5, desc[UR4][R6.64]\n"
                      "@!P2 MOV R5, RZ\nFFMA R8, R4, R5, R8"),
            1)
      << "at the edge of a tile";
}

TEST(DotSteps, SeeSumsThatRotateOrAreMadeApart) {
  EXPECT_EQ(dot_steps("LDG.E.64 R4, desc[UR4][R2.64]\nLDG.E.64 R6, desc[UR4][R8.64]\n"
                      "FFMA R11, R4, R6, R10\nFFMA R10, R5, R7, R11"),
            2);
  // acc += a.x * b.x + a.y * b.y
  EXPECT_EQ(dot_steps("LDG.E.64 R4, desc[UR4][R2.64]\nLDG.E.64 R6, desc[UR4][R8.64]\n"
                      "FMUL R12, R5, R7\nFFMA R12, R4, R6, R12\nFADD R10, R10, R12"),
            2);
  EXPECT_EQ(dot_steps("LDS R4, [R2]\nLDS R5, [R3]\n@P1 FFMA R8, R4, R5, R8"), 1);
}

TEST(DotSteps, AreNotOtherArithmetic) {
  EXPECT_EQ(dot_steps("LDG.E R4, desc[UR4][R2.64]\nFFMA R5, R5, R4, 1.5\nFFMA R5, R5, R4, 2.5"), 0)
      << "polynomial";
  EXPECT_EQ(dot_steps("LDG.E R4, desc[UR4][R2.64]\nLDG.E R5, desc[UR4][R2.64+0x4]\n"
                      "FMUL R6, R4, 0.5\nFFMA R6, R5, c[0x3][0x4], R6\nFFMA R6, R4, R20, R6\n"
                      "STG.E desc[UR4][R8.64], R6"),
            0)
      << "stencil";
  EXPECT_EQ(dot_steps("LDG.E R4, desc[UR4][R2.64]\nLDG.E R5, desc[UR4][R6.64]\n"
                      "FFMA R5, R20, R4, R5\nSTG.E desc[UR4][R6.64], R5"),
            0)
      << "axpy";
  EXPECT_EQ(dot_steps("LDG.E R4, desc[UR4][R2.64]\nLDG.E R5, desc[UR4][R6.64]\n"
                      "LDG.E R9, desc[UR4][R10.64]\nFFMA R5, R9, R4, R5\n"
                      "STG.E desc[UR4][R6.64], R5"),
            0)
      << "elementwise";
  EXPECT_EQ(dot_steps("LDS.128 R4, [R2]\nFADD R10, R4, -R20\nFADD R11, R5, -R21\n"
                      "FMUL R12, R10, R10\nFFMA R12, R11, R11, R12\nMUFU.RSQ R12, R12\n"
                      "FMUL R12, R12, R7\nFFMA R13, R10, R12, R13\nFFMA R14, R11, R12, R14"),
            0)
      << "bodies";
  EXPECT_EQ(dot_steps("LDG.E R4, desc[UR4][R2.64]\nFFMA R8, R4, R4, R8"), 0) << "squares";
  EXPECT_EQ(facts_of("LDG.E R5, desc[UR4][R6.64]\n" +
                     loop("LDG.E R4, desc[UR4][R2.64]\nFFMA R8, R4, R5, R8"))
                .dot_steps,
            0)
      << "a factor that stays";
  EXPECT_EQ(dot_steps("LDG.E R4, desc[UR4][R2.64]\nLDC R5, c[0x0][R6]\nFFMA R8, R4, R5, R8"), 0)
      << "a factor from constant memory";
  EXPECT_EQ(dot_steps("LDG.E R4, desc[UR4][R2.64]\nLDG.E R5, desc[UR4][R6.64]\n"
                      "IMAD R8, R4, R5, R8"),
            0)
      << "integers";
  EXPECT_EQ(facts_of("LDG.E R4, desc[UR4][R2.64]\nLDG.E R5, desc[UR4][R6.64]\n"
                     "FFMA R8, R4, R5, R8\nEXIT\n")
                .dot_steps,
            0)
      << "no loop";
  EXPECT_EQ(dot_steps("MOV R8, RZ\nLDG.E R4, desc[UR4][R2.64]\nLDG.E R5, desc[UR4][R6.64]\n"
                      "FFMA R8, R4, R5, R8\nSTG.E desc[UR4][R10.64], R8"),
            0)
      << "a sum that starts anew in each turn";
  EXPECT_EQ(dot_steps("LDG.E R4, desc[UR4][R2.64]\nLDG.E R5, desc[UR4][R6.64]\nFADD R8, R8, R4\n"
                      "FFMA R9, R4, R5, R8\nSTG.E desc[UR4][R10.64], R9"),
            0)
      << "a product added to a sum that goes on without it";
}

// Everything that could take more than its share of time or memory: deep nests, long chains.
TEST(CodeFacts, OfAMillionInstructions) {
  constexpr int count = 1'000'000;
  std::vector<Instruction> turn;
  for (const char* text :
       {"LDG.E.128 R4, desc[UR4][R2.64]", "LDS.128 R8, [R3]", "PRMT R12, R12, R13, R14",
        "@P0 PRMT R13, R12, R13, R14", "FFMA R16, R12, R13, R16", "FFMA R17, R4, R8, R17",
        "FADD R14, R14, R17", "@P0 BRA 0x0"}) {
    turn.push_back(*parse_instruction(text));
  }
  std::vector<Instruction> code;
  code.reserve(count);
  for (int i = 0; i < count; ++i) {
    code.push_back(turn[static_cast<std::size_t>(i) % turn.size()]);
    code.back().offset = i * 16;
    // Half of the jumps go to the beginning, half make a nest around the middle.
    if (i % 8 == 7 && i > count / 2) {
      char target[16];
      std::snprintf(target, sizeof(target), "0x%x", (count - i) / 8 * 8 * 16);
      code.back().operands = target;
    }
  }
  const CodeFacts facts = code_facts(code);
  EXPECT_EQ(facts.instructions, count);
  EXPECT_GT(facts.loops.size(), 0u);
  EXPECT_EQ(facts.mix.at("fp32"), count / 8 * 3);
  EXPECT_EQ(facts.memory.size(), 256u);
  EXPECT_GT(facts.dot_steps, 0);
}

TEST(CodeFacts, OfDamagedCodeStayWithinIt) {
  Random random(21);
  const std::string text = data("product.cuobjdump");
  int read = 0;
  for (int i = 0; i < 1000; ++i) {
    const Result<std::vector<CodeFunction>> functions = parse_cuobjdump(damaged(text, random), {});
    if (!functions) {
      continue;
    }
    for (const CodeFunction& function : *functions) {
      ++read;
      const CodeFacts facts = code_facts(function.code);
      EXPECT_LE(static_cast<std::size_t>(facts.instructions), function.code.size());
      for (const CodeLoop& one : facts.loops) {
        EXPECT_LT(one.begin, one.end);
        EXPECT_LE(one.end, function.code.back().offset);
      }
    }
  }
  EXPECT_GT(read, 100);
}

TEST(CodeFacts, OfOperandsThatMakeNoSense) {
  for (const char* text :
       {"FFMA", "FFMA R999, R300, R-1, R", "LDG.E R254.128, [", "LDG.E.128 R254, desc[[[[R254.64",
        "MOV ]]],,,,R1", "HGMMA.64x99999999999x16 R250, R4, R5", "DEPBAR.LE SB0, 0xffffffffffff",
        "BRA 0xffffffffffffffff", "BRA -0x10", "BRA ,,,", "STG.E", "CALL.REL.NOINC 0x",
        "FFMA R1, R2, R3, R4, R5, R6, R7, R8, R9, R10, R11"}) {
    const CodeFacts facts = facts_of(loop(text));
    EXPECT_EQ(facts.instructions, 3) << text;
    EXPECT_EQ(facts.dot_steps, 0) << text;
  }
}

}  // namespace
}  // namespace kernelpro
