#include "coordinator/propose/agents/condense.hpp"

#include <optional>
#include <regex>

#include "coordinator/propose/agents/compiler_errors.hpp"
#include "coordinator/propose/agents/fixture.hpp"

namespace kernelpro::agents {
namespace {

using kernelpro::testing::agent_tests;
using kernelpro::testing::file_text;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Lt;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// What g++ 12, clang 19 and nvcc 13.0 said of the sources beside them (NAME.cpp.txt, NAME.cu.txt).
std::string said(const std::string& name) {
  return file_text(agent_tests / "compiler_texts" / (name + ".txt"));
}

std::string condensed(const std::string& text, const std::string& source) {
  return condense_compiler(said(text), said(source));
}

TEST(CompilerErrors, HaveTheirPlaceMessageAndCode) {
  const std::vector<CompilerError> errors = read_compiler_errors(said("gcc_undeclared"));
  ASSERT_THAT(errors, SizeIs(4));
  EXPECT_EQ(errors[0].file, "candidate.cpp");
  EXPECT_EQ(errors[0].line, 10);
  EXPECT_EQ(errors[0].message, "‘alpha’ was not declared in this scope");
  EXPECT_EQ(errors[0].code, "out[i] = alpha * x[i] + yy[i];");
}

TEST(CompilerErrors, ThatSayTheSameAreOne) {
  const std::vector<CompilerError> errors = read_compiler_errors(said("clang_undeclared"));
  ASSERT_THAT(errors, SizeIs(4));
  EXPECT_EQ(errors[1].message, "use of undeclared identifier 'alpha'");
  EXPECT_THAT(errors[1].lines, ElementsAre(10, 11));
}

TEST(CompilerErrors, OfNvccHaveTheirOperandsWithThem) {
  const std::vector<CompilerError> errors = read_compiler_errors(said("nvcc_launch"));
  ASSERT_THAT(errors, SizeIs(4));
  EXPECT_EQ(errors[2].file, "candidate.cu");
  EXPECT_EQ(errors[2].line, 27);
  EXPECT_EQ(errors[2].message, "identifier \"__syncwarps\" is undefined");
  EXPECT_EQ(errors[3].line, 34);
  const std::vector<CompilerError> operands = read_compiler_errors(said("nvcc_templates"));
  ASSERT_THAT(operands, Not(IsEmpty()));
  EXPECT_EQ(operands[0].message,
            "no operator \"<\" matches these operands; operand types are: Tile < Tile");
}

TEST(CompilerErrors, OfNvccHaveTheirChainOfInstantiation) {
  const std::vector<CompilerError> errors = read_compiler_errors(said("nvcc_template_kernel"));
  ASSERT_THAT(errors, SizeIs(1));
  ASSERT_THAT(errors[0].frames, SizeIs(3));
  EXPECT_EQ(errors[0].frames[2].file, "candidate.cu");
  EXPECT_EQ(errors[0].frames[2].line, 30);
}

TEST(CompilerErrors, AreReadOffTheAssemblerAndTheLinker) {
  const std::vector<CompilerError> shared = read_compiler_errors(said("nvcc_shared"));
  ASSERT_THAT(shared, SizeIs(1));
  EXPECT_THAT(shared[0].message, HasSubstr("uses too much shared data"));
  const std::vector<CompilerError> link = read_compiler_errors(said("gcc_link"));
  ASSERT_THAT(link, SizeIs(2));
  EXPECT_EQ(link[0].message, "undefined reference to `cblas_sgemm'");
}

TEST(CompilerErrors, AreNoWarnings) {
  EXPECT_THAT(read_compiler_errors("candidate.cpp:3:1: warning: unused variable 'x'\n"
                                   "    3 | int x;\ncandidate.cpp:2:1: note: declared here\n"
                                   "candidate.cu(7): warning #177-D: variable is unused\n"),
              IsEmpty());
}

TEST(Condense, ShowsTheLinesOfTheSourceAroundAnError) {
  EXPECT_THAT(condensed("gcc_undeclared", "undeclared.cpp"),
              StartsWith("1. candidate.cpp:10: ‘alpha’ was not declared in this scope\n"
                         "        9 |   for (int64_t i = 0; i < n; ++i) {\n"
                         "   >   10 |     out[i] = alpha * x[i] + yy[i];\n"
                         "       11 |     out[i] += alpha;\n"
                         "2. candidate.cpp:10: ‘yy’"));
}

TEST(Condense, CountsWhatIsSaidAgain) {
  EXPECT_THAT(condensed("clang_undeclared", "undeclared.cpp"),
              HasSubstr("use of undeclared identifier 'alpha' (2 times: lines 10, 11)"));
}

// Each compiler names the error, the call of the library in the own source, and the first cause.
TEST(Condense, ShortensChainsOfInstantiationToTheirEnds) {
  for (const char* compiler : {"gcc", "clang", "nvcc"}) {
    const std::string text = said(std::string(compiler) + "_templates");
    const std::string short_text = condense_compiler(text, said("templates.cpp"));
    EXPECT_THAT(short_text.size(), Lt(text.size() / 2)) << short_text;
    EXPECT_THAT(short_text, AllOf(HasSubstr("Tile"), HasSubstr("between …"),
                                  HasSubstr("candidate."), HasSubstr(":29")))
        << compiler << "\n"
        << short_text;
  }
  EXPECT_THAT(condensed("gcc_templates", "templates.cpp"),
              HasSubstr("   >   14 |   static void run(std::vector<T>& tiles) { "
                        "std::sort(tiles.begin(), tiles.end()); }\n"));
}

TEST(Condense, KeepsNotesThatMatter) {
  EXPECT_THAT(condensed("clang_overload", "overload.cpp"),
              AllOf(HasSubstr("note: candidate.cpp:7: candidate function not viable: requires 2 "
                              "arguments, but 3 were provided"),
                    HasSubstr("did you mean 'axes'?")));
  EXPECT_THAT(condensed("clang_templates", "templates.cpp"),
              Not(HasSubstr("candidate template ignored")));
}

TEST(Condense, IsBounded) {
  std::string text;
  for (int i = 1; i <= 500; ++i) {
    text += "candidate.cpp:" + std::to_string(i) + ":1: error: " + std::string(2000, 'x') +
            std::to_string(i) + "\n";
  }
  const std::string out = condense_compiler(text, "int x;\n", 3000);
  EXPECT_THAT(out.size(), Lt(3200U));
  EXPECT_THAT(out, HasSubstr("and 494 more errors"));
}

TEST(Condense, ShowsATextThatItCannotTakeApart) {
  EXPECT_EQ(condense_compiler("the build was stopped after 60000 ms\n", ""),
            "the build was stopped after 60000 ms\n");
  const std::string odd("\xff\xfe{{(1):\n:::error\n\0x", 20);
  EXPECT_THAT(condense_compiler(odd, odd), Not(IsEmpty()));
}

Verdict verdict_of(Outcome outcome, Stage stage, const std::string& rule,
                   const std::string& summary, std::vector<std::string> evidence) {
  Verdict verdict;
  verdict.outcome = outcome;
  verdict.stage = stage;
  verdict.rule = rule;
  verdict.summary = summary;
  verdict.evidence = std::move(evidence);
  return verdict;
}

TEST(Condense, SaysWhereTheFirstWrongElementIsAndWhatTheRuleMeans) {
  Verdict verdict = verdict_of(Outcome::incorrect, Stage::held_out, "poison",
                               "3 of 300 elements of out were never written",
                               {"largest error inf at out[297], bound 9.5e-07",
                                "at n=300, normal values, seed 0x00ab12cd34ef5678"});
  verdict.checks.resize(2);
  verdict.checks[0].stage = Stage::smoke;
  verdict.checks[1].stage = Stage::held_out;
  const std::string text = condense(verdict, "");
  EXPECT_THAT(text, StartsWith("Outcome: `incorrect`, at the stage held_out, by the rule "
                               "`poison`.\n3 of 300 elements of out were never written\n"
                               "What that means: elements of an output were never written"));
  EXPECT_THAT(text, HasSubstr("- largest error inf at out[297], bound 9.5e-07\n"
                              "- at n=300, normal values\n"));
  EXPECT_THAT(text, HasSubstr("It passed before: smoke."));
}

TEST(Condense, ShowsACompilersTextForAFailedBuild) {
  const std::string text = condense(verdict_of(Outcome::build_failed, Stage::build, "",
                                               "it does not compile", {said("nvcc_launch")}),
                                    said("launch.cu"));
  EXPECT_THAT(text, HasSubstr("Outcome: `build_failed`, at the stage build.\n\n```\n"
                              "1. candidate.cu:10: expression must have class type"));
  EXPECT_THAT(text, HasSubstr("   >   27 |   __syncwarps();\n"));
}

TEST(Condense, TakesWhatMattersOfASanitizersReport) {
  const std::string report =
      "========= COMPUTE-SANITIZER\n"
      "========= Invalid __global__ read of size 4 bytes\n"
      "=========     at add(long, const float*)+0x80 in candidate.cu:7\n"
      "=========     by thread (31,0,0) in block (3,0,0)\n"
      "=========     Address 0x7f0000000400 is out of bounds\n"
      "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
      "=========         Host Frame: cuLaunchKernel [0x2f1234] in libcuda.so.1\n"
      "========= Invalid __global__ read of size 4 bytes\n";
  const std::string text = condense(
      verdict_of(Outcome::crashed, Stage::memory, "guard", "it touched memory after x", {report}),
      "");
  EXPECT_THAT(text, AllOf(HasSubstr("Invalid __global__ read of size 4 bytes"),
                          HasSubstr("by thread (31,0,0) in block (3,0,0)"),
                          Not(HasSubstr("Host Frame")), Not(HasSubstr("====="))));
}

// tests/house sees to it that docs/honesty.md has a row for every rule of the judge.
TEST(Condense, SaysWhatEveryRuleOfTheJudgeMeans) {
  const std::string page = file_text(KERNELPRO_SOURCE_DIR "/docs/honesty.md");
  const std::regex row(R"(\n\| `([a-z_]+)` \|[^\n]*\| ([a-z_]+)(?:, [a-z_]+)* \|)");
  int rules = 0;
  for (std::sregex_iterator one(page.begin(), page.end(), row), end; one != end; ++one, ++rules) {
    const std::string rule = (*one)[1];
    const std::optional<Outcome> outcome = parse_outcome((*one)[2].str());
    ASSERT_TRUE(outcome) << (*one)[0];
    if (*outcome != Outcome::build_failed) {  // the compiler says what that means
      EXPECT_THAT(condense(verdict_of(*outcome, Stage::smoke, rule, "x", {}), ""),
                  HasSubstr("What that means: "))
          << rule;
    }
  }
  EXPECT_GE(rules, 20);
}

TEST(Condense, SaysHowFarOffAnErrorIsAndOfWhatKind) {
  const auto said_of = [](double error, double bound) {
    Verdict verdict = verdict_of(Outcome::incorrect, Stage::timed_shapes, "", "x", {});
    CheckRecord check;
    check.distribution = "normal";
    check.error = error;
    check.baseline_error = bound / 4;
    check.bound = bound;
    verdict.checks = {check};
    return condense(verdict, "");
  };
  EXPECT_THAT(said_of(6e-5, 2e-5),
              AllOf(HasSubstr("which is 3 times the bound of 2e-05; "
                              "e(baseline) was 5e-06 on these inputs (normal)"),
                    HasSubstr("That is rounding within f32")));
  EXPECT_THAT(said_of(1.1e-3, 2e-5), HasSubstr("Operands rounded once to tf32 or f16 (2^-11)"));
  EXPECT_THAT(said_of(8e-3, 2e-5), HasSubstr("Operands rounded once to bf16 (2^-8)"));
  EXPECT_THAT(said_of(1, 2e-5), HasSubstr("values are wrong, or terms are missing"));
  // In a contract of 16 bits its own rounding is as large.
  EXPECT_THAT(said_of(8e-3, 4e-3), Not(HasSubstr("Operands rounded")));
}

TEST(Condense, LeavesOutWhatOnlyAPersonCanDo) {
  const Verdict verdict =
      verdict_of(Outcome::incorrect, Stage::smoke, "precision", "x",
                 {"the errors look like those of rounding to tf32; if that is meant, allow it with "
                  "--allow-precision tf32"});
  EXPECT_THAT(condense(verdict, ""), AllOf(HasSubstr("rounding to tf32\n"), Not(HasSubstr("--"))));
}

TEST(ErrorSignature, IsTheSameForTheSameMistakeElsewhere) {
  const auto wrong = [](const std::string& summary) {
    return error_signature(verdict_of(Outcome::incorrect, Stage::smoke, "", summary, {}));
  };
  EXPECT_EQ(wrong("out[12] is 3.5, expected 4"), wrong("out[7] is 13.25, expected 99"));
  EXPECT_NE(wrong("out[12] is 3.5, expected 4"), wrong("C[12] is 3.5, expected 4"));
  const auto broken = [](const std::string& text) {
    return error_signature(verdict_of(Outcome::build_failed, Stage::build, "", "x", {text}));
  };
  EXPECT_EQ(broken("candidate.cu(3): error: identifier \"foo\" is undefined\n"),
            broken("candidate.cu(31): error: identifier \"foo\" is undefined\n"));
}

}  // namespace
}  // namespace kernelpro::agents
