// What is found in machine code that avoidable work looks like. The instructions are as nvcc 13
// wrote them for kernels of bench/defects.
#include "worker/profile/code_patterns.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "worker/profile/assemble.hpp"
#include "worker/profile/code_facts.hpp"

namespace kernelpro {
namespace {

// Each instruction executed a hundred times by full warps.
std::vector<Instruction> counted(const std::string& lines) {
  std::vector<Instruction> code = assemble(lines);
  for (Instruction& one : code) {
    one.executed = 100;
    one.threads_active = one.threads_executed = 3200;
    one.samples = 1;
  }
  return code;
}

std::map<std::string, CodePattern> patterns_of(const std::vector<Instruction>& code) {
  return code_facts(code).patterns.value_or(std::map<std::string, CodePattern>());
}

std::string in_loop(const std::string& body) {
  return "top:\n" + body + "\n@P0 BRA `(top)\nEXIT\n";
}

double begun(const std::string& lines, const char* name) {
  const auto found = patterns_of(counted(lines));
  return found.contains(name) ? found.at(name).begun : 0;
}

TEST(CodePatterns, NoneWithoutCounts) {
  EXPECT_FALSE(code_facts(assemble("FCHK P0, R2, R3\nEXIT")).patterns.has_value());
}

TEST(CodePatterns, ThreadsThatStandAsideAtTheBranchBeforeThem) {
  std::vector<Instruction> code =
      counted("@P0 BRA 0x30\nFFMA R1, R2, R3, R4\nFADD R1, R1, R2\nEXIT");
  code[0].place = {"a.cu", 7};
  code[1].threads_active = 800;
  const CodePattern found = patterns_of(code).at("divergent");
  EXPECT_EQ(found.executed, 75);
  EXPECT_EQ(found.places.at(0).line, 7);
}

TEST(CodePatterns, ThreadsThatTryAgainAreNotDivergent) {
  std::vector<Instruction> code = counted(
      in_loop("ATOMG.E.CAS.STRONG.GPU PT, R2, [R4], R6, R7\nISETP.NE.AND P0, PT, R2, RZ, PT"));
  for (Instruction& one : code) {
    one.threads_active = 100;
  }
  EXPECT_EQ(patterns_of(code).at("divergent").executed, 100 - 100.0 / 32);  // EXIT alone
}

TEST(CodePatterns, TripsToDoubleAndBack) {
  const std::string trip = "F2F.F64.F32 R2, R0\nDFMA R2, R2, R4, R6\nF2F.F32.F64 R0, R2\nEXIT";
  EXPECT_EQ(begun(trip, "to_double"), 100);
  EXPECT_EQ(begun(trip, "from_double"), 100);
  EXPECT_EQ(patterns_of(counted(trip)).at("double").executed, 300);
  EXPECT_EQ(begun("F2F.F64.F32 R2, R0\nDSETP.GT.AND P0, PT, R2, R4, PT\nEXIT", "from_double"), 100);
}

TEST(CodePatterns, IntegersThatBecomeDouble) {
  const std::string trip = "I2F.F64 R2, R0\nDMUL R2, R2, R4\nF2F.F32.F64 R0, R2\nEXIT";
  EXPECT_EQ(begun(trip, "integer_to_double"), 100);
  EXPECT_EQ(begun(trip, "to_double"), 0);
  EXPECT_EQ(patterns_of(counted(trip)).at("double").executed, 300);
  EXPECT_EQ(begun("I2FP.F32.S32 R2, R0\nEXIT", "integer_to_double"), 0);
}

TEST(CodePatterns, LongFunctionsByTheirMarks) {
  EXPECT_EQ(begun("MUFU.RCP R4, R3\nFCHK P0, R2, R3\nEXIT", "function"), 100);
  EXPECT_EQ(begun("VIADD R4, R0, 0xf3000000\nISETP.GT.U32.AND P0, PT, R4, 0x727fffff, PT\nEXIT",
                  "function"),
            100);
  EXPECT_EQ(begun("FFMA.SAT R6, -R7, R4, 0.5\nFFMA.RM R6, R6, R5, 12582913\nEXIT", "function"),
            100);
  EXPECT_EQ(begun("FMUL R2, R2, 1.4426950216293334961\nMUFU.EX2 R2, R2\nEXIT", "function"), 0);
  EXPECT_EQ(begun("FFMA R9, R8, -|R3|, |R2|\nEXIT", "function"), 100);
}

TEST(CodePatterns, WhatOnlyLooksLikeAFunction) {
  EXPECT_EQ(begun("FFMA.SAT R6, R7, R4, 0.5\nFMUL R6, R6, R5\nEXIT", "function"), 0);
  EXPECT_EQ(begun("FFMA R9, R8, R2, -|R3|\nEXIT", "function"), 0);
}

// As in `windows_f32/unsigned32`: the rest of a near quotient is compared with the divisor.
TEST(CodePatterns, IntegerDivisionByItsRest) {
  EXPECT_EQ(begun("IMAD.HI.U32 R10, R8, R9, RZ\n"
                  "IADD3 R14, -R10, RZ, RZ\n"
                  "IMAD R11, R14, UR6, R9\n"
                  "ISETP.GE.U32.AND P2, PT, R11, UR6, PT\n"
                  "@P2 VIADD R11, R11, -UR6\nEXIT",
                  "index_division"),
            100);
}

TEST(CodePatterns, AProductByAPreparedFactorIsNoDivision) {
  EXPECT_EQ(begun("IMAD.HI.U32 R3, R2, UR6, RZ\n"
                  "IADD3 R3, R3, R2, RZ\n"
                  "SHF.R.U32.HI R3, RZ, UR7, R3\n"
                  "IADD3 R5, -R3, RZ, RZ\n"
                  "IMAD R6, R5, UR4, R2\nEXIT",
                  "index_division"),
            0);
  EXPECT_EQ(
      begun("IMAD.HI.U32 R3, R2, 0x24924925, RZ\nIADD3 R4, -R3, RZ, RZ\nEXIT", "index_division"),
      0);
}

TEST(CodePatterns, FencesInLoopsAlone) {
  EXPECT_EQ(begun(in_loop("STG.E [R2.64], R4\nMEMBAR.SC.GPU\nERRBAR\nCCTL.IVALL"), "fence"), 100);
  EXPECT_EQ(begun(in_loop("STG.E [R2.64], R4\nMEMBAR.ALL.CTA"), "fence"), 0);
  EXPECT_EQ(begun("STG.E [R2.64], R4\nMEMBAR.SC.GPU\nEXIT", "fence"), 0);
}

TEST(CodePatterns, VolatileAndAcquiringLoadsButNotThosePastL1) {
  const std::string used = "FADD R9, R9, R4\nIADD3 R2, R2, 0x4, RZ";
  EXPECT_EQ(begun(in_loop("LDG.E.STRONG.SYS R4, [R2.64]\n" + used), "fresh_load"), 100);
  EXPECT_EQ(begun(in_loop("LDG.E.STRONG.GPU R4, [R2.64]\nCCTL.IVALL\n" + used), "fresh_load"), 100);
  EXPECT_EQ(begun(in_loop("LDG.E.STRONG.GPU R4, [R2.64]\n" + used), "fresh_load"), 0);
}

TEST(CodePatterns, LoopsThatOnlyLook) {
  EXPECT_EQ(begun(in_loop("LDG.E.STRONG.SYS R4, [R2.64]\nISETP.EQ.AND P0, PT, R4, R5, PT"), "spin"),
            100);
  EXPECT_EQ(begun(in_loop("LDG.E.STRONG.SYS R4, [R2.64]\nFADD R5, R5, R4"), "spin"), 0);
}

TEST(CodePatterns, AtomicsThatChangeNothing) {
  EXPECT_EQ(begun("ATOMG.E.ADD.STRONG.GPU PT, R7, [R2.64], RZ\nEXIT", "atomic_load"), 100);
  EXPECT_EQ(begun("ATOMG.E.ADD.STRONG.GPU PT, R7, [R2.64], R5\nEXIT", "atomic_load"), 0);
  EXPECT_EQ(begun("ATOMG.E.CAS.STRONG.GPU PT, R7, [R2.64], RZ, RZ\nEXIT", "atomic_load"), 100);
}

// They give a lock back, count round, or keep what is above zero.
TEST(CodePatterns, AtomicsThatStoreAZero) {
  EXPECT_EQ(begun("ATOMG.E.CAS.STRONG.GPU PT, R7, [R2.64], R4, RZ\nEXIT", "atomic_load"), 0);
  EXPECT_EQ(begun("ATOMG.E.INC.STRONG.GPU PT, R7, [R2.64], RZ\nEXIT", "atomic_load"), 0);
  EXPECT_EQ(begun("ATOMG.E.MAX.S32.STRONG.GPU PT, R7, [R2.64], RZ\nEXIT", "atomic_load"), 0);
  EXPECT_EQ(begun("ATOMG.E.MAX.STRONG.GPU PT, R7, [R2.64], RZ\nEXIT", "atomic_load"), 100);
}

TEST(CodePatterns, LoadsWhoseAddressStays) {
  EXPECT_EQ(begun(in_loop("LDG.E R4, [R2.64]\nFADD R4, R4, R5\nSTG.E [R2.64], R4"), "reload"), 100);
  EXPECT_EQ(begun(in_loop("LDG.E R4, [R2.64]\nIADD3 R2, R2, 0x4, RZ"), "reload"), 0);
}

// As in steps of a grid whose threads read what their neighbors wrote before.
TEST(CodePatterns, WhatOthersMayHaveStoredIsLoadedAnew) {
  const std::string step = "FADD R4, R4, R5\nSTG.E [R6.64], R4\nMEMBAR.SC.GPU\nERRBAR";
  EXPECT_EQ(begun(in_loop("LDG.E R4, [R2.64]\n" + step), "reload"), 0);
  EXPECT_EQ(begun(in_loop("LDG.E.CONSTANT R4, [R2.64]\n" + step), "reload"), 100);
}

// As in sums of absolute differences.
TEST(CodePatterns, AbsoluteValuesAreNoDivisions) {
  const auto none = patterns_of(counted("IABS R3, R2\nIADD3 R4, R4, R3, RZ\nEXIT"));
  EXPECT_FALSE(none.contains("index_division"));
  const auto signs = patterns_of(
      counted("IABS R3, R2\nI2F.RP R4, R3\nIABS R5, R6\nIMAD.HI.U32 R7, R8, R5, RZ\nEXIT"));
  EXPECT_EQ(signs.at("index_division").executed, (2 + 8 + 2) * 100);
}

// A table with open addresses: each turn looks at the next place.
TEST(CodePatterns, SearchesAndSumsAreNoWaits) {
  const std::string probe =
      "ATOMG.E.CAS.STRONG.GPU PT, R4, [R2.64], R6, R7\n"
      "ISETP.EQ.AND P0, PT, R4, R7, PT\n"
      "IADD3 R8, R8, 0x1, RZ\n"
      "IMAD.WIDE R2, R8, 0x4, R10";
  EXPECT_EQ(begun(in_loop(probe), "spin"), 0);
  const std::string sum =
      "LDG.E.STRONG.SYS R4, [R2.64]\nIADD3 R5, R5, R4, RZ\nIADD3 R2, R2, 0x4, RZ";
  EXPECT_EQ(begun(in_loop(sum), "spin"), 0);
  EXPECT_EQ(begun(in_loop(sum), "fresh_load"), 100);
}

TEST(CodePatterns, AnAddressThatIsMadeAnewInEachTurnStays) {
  EXPECT_EQ(begun(in_loop("S2R R8, SR_CTAID.X\nIMAD.WIDE R2, R8, 0x4, R10\n"
                          "LDG.E.STRONG.SYS R4, [R2.64]\nISETP.EQ.AND P0, PT, R4, R5, PT"),
                  "spin"),
            100);
}

double idle_in_loop(const std::string& body) {
  std::vector<Instruction> code = counted(in_loop(body));
  for (Instruction& one : code) {
    one.threads_active = one.opcode == "EXIT" ? 3200 : 1600;
  }
  const auto found = patterns_of(code);
  return found.contains("divergent") ? found.at("divergent").executed : 0;
}

TEST(CodePatterns, WhoCountsInALoopStandsAsideByItsOwnBranches) {
  EXPECT_EQ(idle_in_loop("ATOMS.ADD R4, [R2], R6\nISETP.NE.AND P0, PT, R5, RZ, PT"), 150);
  EXPECT_EQ(idle_in_loop("ATOMS.CAST.SPIN R4, [R2], R6, R7\nISETP.NE.AND P0, PT, R4, R6, PT"), 0);
}

// One thread of a warp waits for a copy into shared memory.
TEST(CodePatterns, WhoWaitsAtABarrierInSharedMemoryIsNotDivergent) {
  EXPECT_EQ(idle_in_loop("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R5+URZ+0x8], R4"), 0);
}

}  // namespace
}  // namespace kernelpro
