#include "worker/profile/sass.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "common/base/random.hpp"
#include "worker/profile/assemble.hpp"
#include "worker/profile/data.hpp"

namespace kernelpro {
namespace {

using testing::HasSubstr;

CodeWish for_gpu(std::string architecture, std::string function = {}) {
  return {.architecture = std::move(architecture), .function = std::move(function)};
}

std::vector<CodeFunction> good(Result<std::vector<CodeFunction>> functions) {
  if (!functions) {
    ADD_FAILURE() << functions.error().text();
    return {CodeFunction{}};
  }
  return std::move(*functions);
}

std::string problem_of(const Result<std::vector<CodeFunction>>& functions) {
  return functions.ok() ? "no error" : functions.error().text();
}

// One instruction in one line, for comparison.
std::string shown(const Instruction& one) {
  return one.predicate + "|" + one.opcode + "|" + one.operands;
}

std::string shown(std::string_view text) {
  const std::optional<Instruction> one = parse_instruction(text);
  return one ? shown(*one) : "none";
}

TEST(SassInstruction, IsReadAsNcuShowsIt) {
  EXPECT_EQ(shown("@P0   EXIT"), "@P0|EXIT|");
  EXPECT_EQ(shown("      LDG.E.128 R4, desc[UR4][R2.64+0x10]"),
            "|LDG.E.128|R4, desc[UR4][R2.64+0x10]");
  EXPECT_EQ(shown("@!UP1 UIADD3 UR8, UP0, UR8, 0x40, URZ"),
            "@!UP1|UIADD3|UR8, UP0, UR8, 0x40, URZ");
  EXPECT_EQ(shown("      RET.REL.NODEC R2, 0x7f58077a2800"), "|RET.REL.NODEC|R2, 0x7f58077a2800");
  EXPECT_EQ(shown("HGMMA.64x128x16.F32.BF16 R24, gdesc[UR8], R24, gsb0"),
            "|HGMMA.64x128x16.F32.BF16|R24, gdesc[UR8], R24, gsb0");
  EXPECT_EQ(shown("BRA 0x110;   /* 0xfffffffc00fc7947 */"), "|BRA|0x110");
}

TEST(SassInstruction, IsNotReadOutOfOtherText) {
  for (const char* text : {"", "   ", ";", "@P0", "@", "@P9 EXIT", "@Q0 EXIT", "ldg r1", "-",
                           "0x10", "LDG,", "LDG. R1", "\"MOV\" R1", "==PROF== Connected"}) {
    EXPECT_EQ(shown(text), "none") << text;
  }
}

TEST(SassOfCuobjdump, TakesTheAskedFunctionAlone) {
  const std::vector<CodeFunction> functions =
      good(parse_cuobjdump(data("kernels.cuobjdump"), for_gpu("", "_Z3fewPfPKfi")));
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].code.size(), 32u);
  EXPECT_EQ(problem_of(parse_cuobjdump(data("kernels.cuobjdump"), for_gpu("", "_Z3f"))),
            "machine code: there is no function _Z3f in it");
}

TEST(SassOfCuobjdump, IsReadWithoutItsEncodings) {
  const std::vector<CodeFunction> functions =
      good(parse_cuobjdump(data("kernels.cuobjdump"), for_gpu("sm_90")));
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[0].name, "_Z3fewPfPKfi");
  EXPECT_EQ(functions[0].architecture, "sm_90a");
  EXPECT_EQ(functions[0].code.size(), 32u);
  EXPECT_EQ(shown(functions[0].code[0x14]), "@!P0|BRA|0xd0");
  EXPECT_EQ(shown(functions[1].code[0x11]), "|CALL.REL.NOINC|0x340");
  EXPECT_EQ(shown(functions[1].code[0x82]), "|RET.REL.NODEC|R2 0x0");
}

TEST(SassOfCuobjdump, TakesWhatTheGpuWouldRun) {
  const std::string ninety = data("kernels.cuobjdump");
  const std::string eighty = replaced(ninety, "sm_90a", "sm_80");
  const std::string eighty_six = replaced(replaced(ninety, "sm_90a", "sm_86"), "R0", "R9");
  const std::string plain = replaced(ninety, "sm_90a", "sm_90");
  const std::string text = eighty + ninety + eighty_six;
  const auto taken = [](const std::string& from, const std::string& gpu) {
    const Result<std::vector<CodeFunction>> functions =
        parse_cuobjdump(from, for_gpu(gpu, "_Z3fewPfPKfi"));
    return functions.ok() && functions->size() == 1 ? functions->front().architecture
                                                    : problem_of(functions);
  };
  EXPECT_EQ(taken(text, "sm_90"), "sm_90a");
  EXPECT_EQ(taken(text, "sm_90a"), "sm_90a");
  EXPECT_EQ(taken(text + plain, "sm_90"), "sm_90");
  EXPECT_EQ(taken(text, "sm_80"), "sm_80");
  EXPECT_EQ(taken(text, "sm_86"), "sm_86");
  EXPECT_EQ(taken(text, "sm_89"), "sm_86");
  EXPECT_EQ(taken(text, "sm_75"),
            "machine code: it has no code for sm_75, only for sm_80, sm_86, sm_90a");
  EXPECT_EQ(taken(text, ""),
            "machine code: it has code for sm_80, sm_86, sm_90a; say which is wanted");
  const std::vector<CodeFunction> functions =
      good(parse_cuobjdump(text, for_gpu("sm_86", "_Z3fewPfPKfi")));
  EXPECT_EQ(shown(functions[0].code[1]), "|S2R|R9, SR_CTAID.X");
}

TEST(Sass, OfNothingIsAnError) {
  for (const std::string text :
       {"", "\n\n", "cuobjdump fatal   : No device code", "\"a\",\"b\"\n"}) {
    EXPECT_THAT(problem_of(parse_cuobjdump(text, {})), HasSubstr("there is no function in it"));
  }
}

TEST(Sass, CutOffInsideAnInstructionIsAnError) {
  const std::string text = data("kernels.cuobjdump");
  const std::size_t at = text.find("LDG.E") + 9;
  const std::string problem = problem_of(parse_cuobjdump(text.substr(0, at), {}));
  EXPECT_THAT(problem, HasSubstr("the instruction has no end; was the text cut off?"));
  EXPECT_THAT(problem, HasSubstr("machine code, line "));
}

TEST(Sass, ThatIsGarbledIsAnErrorThatNamesTheLine) {
  EXPECT_EQ(problem_of(parse_cuobjdump(cuobjdump_text("MOV R1, R2\nwhat is this\n"), {})),
            "machine code, line 4: this is no instruction: \"        /*0010*/       what is this "
            ";\"");
  std::string text = cuobjdump_text("MOV R1, R2\nEXIT\n");
  text = replaced(text, "/*0010*/", "/*0000*/");
  EXPECT_THAT(problem_of(parse_cuobjdump(text, {})),
              HasSubstr("the offsets of the code do not rise"));
  text = replaced(text, "/*0000*/       EXIT", "/*7fffffff0*/       EXIT");
  EXPECT_THAT(problem_of(parse_cuobjdump(text, {})),
              HasSubstr("the offsets of the code do not rise"));
}

TEST(Sass, BeyondTheLimitIsAnErrorThatSaysWhatToDo) {
  CodeWish wish;
  wish.most_instructions = 100;
  EXPECT_THAT(problem_of(parse_cuobjdump(data("kernels.cuobjdump"), wish)),
              HasSubstr("the machine code has more than 100 instructions; ask for one function"));
  wish.function = "_Z3fewPfPKfi";
  EXPECT_EQ(good(parse_cuobjdump(data("kernels.cuobjdump"), wish))[0].code.size(), 32u);
}

TEST(Sass, OfAMillionInstructionsIsRead) {
  std::string text = "\tcode for sm_90a\n\t\tFunction : huge\n";
  char line[128];
  constexpr int count = 1'000'000;
  for (int i = 0; i < count; ++i) {
    std::snprintf(line, sizeof(line), "        /*%04x*/   FFMA R%d, R%d, R%d, R%d ;  /* 0x0 */\n",
                  i * 16, i % 250, i % 50, i % 60, i % 250);
    text += line;
  }
  const std::vector<CodeFunction> functions = good(parse_cuobjdump(text, for_gpu("sm_90")));
  ASSERT_EQ(functions[0].code.size(), static_cast<std::size_t>(count));
  EXPECT_LE(functions[0].code.capacity(), static_cast<std::size_t>(count) + 1);
  EXPECT_EQ(shown(functions[0].code.back()), "|FFMA|R249, R49, R39, R249");
}

TEST(SassTargets, ThatAreAddressesBecomeOffsets) {
  std::vector<Instruction> code;
  for (const char* text : {"@P0   BRA 0x7f58077a2950", "BRA.U !UP0, 0x7f58077a2800",
                           "CALL.REL.NOINC 0x7f58077a2b40", "RET.REL.NODEC R2, 0x7f58077a2800",
                           "MOV R0, 0x7f58", "BRA 0x10", "BRX R4 -0x7f58077a2990"}) {
    code.push_back(*parse_instruction(text));
  }
  make_targets_relative(code, 0x7f58077a2800);
  EXPECT_EQ(code[0].operands, "0x150");
  EXPECT_EQ(code[1].operands, "!UP0, 0x0");
  EXPECT_EQ(code[2].operands, "0x340");
  EXPECT_EQ(code[3].operands, "R2, 0x0");
  EXPECT_EQ(code[4].operands, "R0, 0x7f58");
  EXPECT_EQ(code[5].operands, "0x10");  // lies before the function
  EXPECT_EQ(code[6].operands, "R4 -0x7f58077a2990");
}

TEST(SassHeaders, OfTheSystemAreToldByTheirPath) {
  EXPECT_TRUE(is_system_header("/usr/local/cuda/bin/../targets/x86_64-linux/include/crt/mma.hpp"));
  EXPECT_TRUE(is_system_header("/opt/cuda-12.4/include/cuda_fp16.hpp"));
  EXPECT_TRUE(is_system_header("/usr/include/c++/13/cmath"));
  EXPECT_TRUE(is_system_header("/home/user/site-packages/nvidia/cuda_runtime/include/a.h"));
  EXPECT_FALSE(is_system_header("/home/user/p.cu"));
  EXPECT_FALSE(is_system_header("/home/user/cuda/include/tile.cuh"));
  EXPECT_FALSE(is_system_header("/home/user/cutlass/include/cute/tensor.hpp"));
  EXPECT_FALSE(is_system_header(""));
}

TEST(Sass, ThatIsDamagedIsReadOrRefusedButNeverInvented) {
  Random random(20);
  const std::string cuobjdump = data("kernels.cuobjdump").substr(0, 12000);
  for (int i = 0; i < 400; ++i) {
    const auto check = [](const Result<std::vector<CodeFunction>>& functions) {
      if (!functions) {
        EXPECT_FALSE(functions.error().message.empty());
        return;
      }
      for (const CodeFunction& function : *functions) {
        EXPECT_FALSE(function.code.empty());
        for (std::size_t k = 1; k < function.code.size(); ++k) {
          EXPECT_LT(function.code[k - 1].offset, function.code[k].offset);
        }
      }
    };
    check(parse_cuobjdump(damaged(cuobjdump, random), for_gpu("sm_90")));
  }
}

}  // namespace
}  // namespace kernelpro
