// What each transformation writes, and why it refuses; whether results compute the same is tested
// on the bundled tasks.
#include "coordinator/rewrite/transformations.hpp"

#include <gmock/gmock.h>

#include "common/model/tunables.hpp"
#include "coordinator/rewrite/fixture.hpp"

namespace kernelpro {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using testing::gemm;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::refusal;
using testing::rewritten;

std::string first_of(const std::string& name, const std::string& source,
                     const std::map<std::string, std::string>& arguments = {}) {
  const std::vector<Rewritten> all = rewritten(name, source, arguments);
  return all.empty() ? "" : all[0].source;
}

// A function of one loop over i < n with these statements in it.
std::string loop(const std::string& statements, const std::string& before = "") {
  return "#include <cmath>\nstatic float f(int n, float a, float* x, const float* y, const int* "
         "at) {\n" +
         before + "  for (int i = 0; i < n; ++i) {\n" + statements + "\n  }\n  return a;\n}\n" +
         "float g(int n, float* x, const float* y, const int* at) {\n  return f(n, 1, x, y, "
         "at);\n}\n";
}

TEST(RegisterBlockTest, KeepsABlockOfSumsOverBothLoops) {
  const std::vector<Rewritten> all = rewritten("register_block", gemm());
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0].site, "gemm: i, j");
  EXPECT_EQ(all[0].summary, "blocks of i x j in registers, vectors over j");
  EXPECT_THAT(all[0].source, HasSubstr("float sum[BLOCK_I][LANES_J];"));
  EXPECT_THAT(
      all[0].source,
      HasSubstr("sum[i_lane][j_lane] += A[(i + i_lane) * k + p] * B[p * n + (j + j_lane)];"));
  const Result<std::vector<Tunable>> tunables = parse_tunables(all[0].source);
  ASSERT_TRUE(tunables.ok()) << tunables.error().text();
  EXPECT_THAT(*tunables,
              ElementsAre(Field(&Tunable::name, "LANES_J"), Field(&Tunable::name, "BLOCK_I")));
}

TEST(RegisterBlockTest, ALastBlockOverlapsWhenRoundsMayBeRepeatedAndElseARemainderStays) {
  EXPECT_THAT(first_of("register_block", gemm()),
              HasSubstr("const int64_t j = j_block < n - LANES_J ? j_block : n - LANES_J;"));
  std::string adding = gemm();
  adding.replace(adding.find("= sum;"), 6, "+= sum;");
  const std::string source = first_of("register_block", adding);
  EXPECT_THAT(source, HasSubstr("for (int64_t j = j_rest; j < n; ++j)"));
  EXPECT_THAT(source, Not(HasSubstr("j_block")));
}

TEST(RegisterBlockTest, ARowWrittenAndReadThroughALocalPointerIsNotRepeated) {
  const std::string source =
      first_of("register_block",
               "#include <cstdint>\n"
               "void halve(int64_t m, int64_t n, const float* x, float* y) {\n"
               "  for (int64_t i = 0; i < m; ++i) {\n"
               "    float* out = y + i * n;\n"
               "    for (int64_t j = 0; j < n; ++j) { out[j] = x[i * n + j]; }\n"
               "    for (int64_t j = 0; j < n; ++j) { out[j] = out[j] / 2.0F; }\n"
               "  }\n"
               "}\n");
  EXPECT_THAT(source, HasSubstr("i_rest"));
  EXPECT_THAT(source, Not(HasSubstr("i_block")));
}

TEST(RegisterBlockTest, RefusesWhatItCannotRunSideBySide) {
  EXPECT_THAT(refusal("register_block", loop("x[i] = a;")),
              HasSubstr("there is no loop nest of depth 2"));
  EXPECT_THAT(
      refusal("register_block", loop("for (int p = at[i]; p < at[i + 1]; ++p) { x[i] += y[p]; }")),
      HasSubstr("depend on i"));
  EXPECT_THAT(refusal("register_block",
                      loop("for (int p = 0; p < n; ++p) { if (y[p] > 0) break; x[i] += y[p]; }")),
              HasSubstr("holds statements or calls that are not understood"));
  EXPECT_THAT(refusal("register_block", loop("for (int p = 0; p < n; ++p) { x[p] = y[i]; }\nfor "
                                             "(int p = 0; p < n; ++p) { a += x[p]; }")),
              HasSubstr("the loop over i carries x from round to round"));
}

TEST(RegisterBlockTest, BestIndicesBecomeChoicesThatVectorize) {
  const std::string nearest =
      "void f(int n, int k, int d, const float* p, const float* c, int* label) {\n"
      "  for (int i = 0; i < n; ++i) {\n    int best = 0;\n    float least = 1e30F;\n"
      "    for (int j = 0; j < k; ++j) {\n      float sum = 0;\n"
      "      for (int t = 0; t < d; ++t) { sum += p[i * d + t] * c[j * d + t]; }\n"
      "      if (sum < least) { least = sum; best = j; }\n    }\n    label[i] = best;\n  }\n}\n";
  const std::string source = first_of("register_block", nearest, {{"site", "j, i"}});
  EXPECT_THAT(
      source,
      HasSubstr("best[i_lane] = sum[j_lane][i_lane] < least[i_lane] ? j + j_lane : best[i_lane];"));
}

TEST(PackTest, CopiesThePanelInFrontOfTheLoopThatReusesIt) {
  const std::string swapped = first_of("interchange", gemm(), {{"site", "i, j"}});
  const std::string blocked = first_of("register_block", swapped);
  const std::vector<Rewritten> all = rewritten("pack", blocked);
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0].site, "gemm: i_block, array B");
  EXPECT_THAT(all[0].source, HasSubstr("const KpScratch B_owner(sizeof(float) * "));
  EXPECT_THAT(all[0].source,
              HasSubstr("B_packed[p * LANES_J + j_lane] = B[p * n + (j + j_lane)];"));
  EXPECT_THAT(all[0].source,
              HasSubstr("A[(i + i_lane) * k + p] * B_packed[p * LANES_J + j_lane];"));
}

TEST(PackTest, RefusesWhatChangesOrMayNotBeRead) {
  EXPECT_THAT(refusal("pack", loop("x[i] = a;")), HasSubstr("there is no loop around other loops"));
  EXPECT_THAT(refusal("pack", loop("for (int j = 0; j < n; ++j) { if (i > j) x[i] += y[j]; }"),
                      {{"site", "array y"}}),
              HasSubstr("y is read under a condition that is not known before the loop over i"));
  EXPECT_THAT(refusal("pack", loop("for (int j = 0; j < n; ++j) { x[j] += 1; }")),
              HasSubstr("x is written in the loop over i"));
}

TEST(InterchangeTest, SwapsPerfectLoops) {
  EXPECT_THAT(
      first_of("interchange", gemm(), {{"site", "i, j"}}),
      HasSubstr("  for (int64_t j = 0; j < n; ++j) {\n    for (int64_t i = 0; i < m; ++i) {"));
}

TEST(InterchangeTest, BuildsSumsInTheOutput) {
  const std::string source = first_of("interchange", gemm(), {{"site", "j, p"}});
  EXPECT_THAT(source, HasSubstr("for (int64_t p = 0; p < k; ++p) {\n      for (int64_t j = 0; j < "
                                "n; ++j) {\n        C[i * n + j] += A[i * k + p] * B[p * n + j];"));
}

TEST(InterchangeTest, RefusesDependentBounds) {
  EXPECT_THAT(refusal("interchange", loop("for (int j = i; j < n; ++j) { x[j] = a; }")),
              HasSubstr("the bounds of the loop over j depend on i"));
  EXPECT_THAT(
      refusal("interchange", loop("x[i] = 0;\nfor (int j = 0; j < n; ++j) { x[i] += y[j]; }")),
      HasSubstr("holds more than a loop"));
}

TEST(TileTest, CutsABandIntoTiles) {
  const std::string source = first_of("tile", gemm());
  EXPECT_THAT(source, HasSubstr("for (int64_t i_tile = 0; i_tile < m; i_tile += TILE_I) {"));
  EXPECT_THAT(
      source,
      HasSubstr(
          "for (int64_t j = j_tile; j < (j_tile + TILE_J < n ? j_tile + TILE_J : n); ++j) {"));
  EXPECT_THAT(refusal("tile", loop("for (int j = i; j < n; ++j) { x[j] = a; }")),
              HasSubstr("no loops perfectly inside"));
  EXPECT_THAT(refusal("tile", loop("x[i] = a;")),
              HasSubstr("no loops perfectly inside one another"));
}

TEST(InlineCallsTest, PutsBodiesAndAliasesInPlace) {
  const std::string source =
      "static float dot(int d, const float* a, const float* b) {\n  float sum = 0;\n"
      "  for (int j = 0; j < d; ++j) { sum += a[j] * b[j]; }\n  return sum;\n}\n"
      "static float positive(float v) {\n  if (v < 0) {\n    return 0;\n  }\n  return v;\n}\n"
      "void f(int n, int d, const float* p, const float* q, float* out) {\n"
      "  for (int i = 0; i < n; ++i) {\n    const float* row = p + i * d;\n"
      "    out[i] = positive(dot(d, row, q));\n  }\n}\n";
  const std::string text = first_of("inline_calls", source);
  EXPECT_THAT(text, HasSubstr("+= p[i * d + j_2] * q[j_2];"));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("row")), Not(HasSubstr("dot(")), Not(HasSubstr("return"))));
  EXPECT_THAT(refusal("inline_calls", gemm()),
              HasSubstr("no loop calls a small function of this file"));
}

TEST(InlineCallsTest, WhatOthersMayCallStaysAndTemplatesAreLeftAlone) {
  const std::string text =
      first_of("inline_calls",
               "inline float twice(float v) { return 2 * v; }\n"
               "void f(int n, float* x) { for (int i = 0; i < n; ++i) x[i] = twice(x[i]); }\n");
  EXPECT_THAT(text, AllOf(HasSubstr("inline float twice"), Not(HasSubstr("= twice("))));
  EXPECT_THAT(
      refusal("inline_calls",
              "template <typename T> T twice(T v) { return 2 * v; }\n"
              "void f(int n, float* x) { for (int i = 0; i < n; ++i) x[i] = twice(x[i]); }\n"),
      HasSubstr("no loop calls a small function of this file"));
}

TEST(SplitAccumulatorTest, SumsAndExtremesGetParts) {
  EXPECT_THAT(
      first_of("split_accumulator", loop("a += y[i];")),
      AllOf(HasSubstr("a_parts[i_lane] += y[i + i_lane];"), HasSubstr("a += a_parts[part];")));
  EXPECT_THAT(first_of("split_accumulator", loop("if (y[i] > a) { a = y[i]; }")),
              AllOf(HasSubstr("a_parts[part] = a;"), HasSubstr("if (a_parts[part] > a) {")));
  const std::string best = loop("if (y[i] < a) { a = y[i]; where = i; }", "  int where = 0;\n");
  EXPECT_THAT(first_of("split_accumulator", best),
              HasSubstr("(a_parts[part] == a && where_parts[part] < where)"));
}

TEST(SplitAccumulatorTest, RefusesOtherRecurrences) {
  EXPECT_THAT(refusal("split_accumulator", loop("a = a * 0.5F + y[i];")),
              HasSubstr("the loop over i carries a from round to round"));
  EXPECT_THAT(refusal("split_accumulator", loop("x[i] = y[i];")),
              HasSubstr("the loop over i accumulates nothing"));
}

TEST(FissionTest, MakesTwoLoops) {
  EXPECT_THAT(first_of("fission", loop("x[i] = y[i];\na += y[i];")),
              HasSubstr("    x[i] = y[i];\n  }\n  for (int i = 0; i < n; ++i) {\n    a += y[i];"));
  EXPECT_THAT(refusal("fission", loop("const float v = y[i];\nx[i] = v;")),
              HasSubstr("needs v in both parts of a round"));
  EXPECT_THAT(refusal("fission", loop("a += y[i];\nx[i] = a;")),
              HasSubstr("carries a from round to round through both parts"));
  EXPECT_THAT(refusal("fission", loop("x[0] = y[i];\na += x[0];")),
              HasSubstr("uses the same elements of x in every round"));
}

TEST(FusionTest, MakesOneLoop) {
  const std::string two =
      "void f(int n, float* x, float* z, const float* y) {\n  for (int i = 0; i < n; ++i) { x[i] = "
      "y[i]; }\n  for (int j = 0; j < n; ++j) { z[j] = x[";
  EXPECT_THAT(first_of("fusion", two + "j] * 2; }\n}\n"),
              HasSubstr("    x[i] = y[i];\n    z[i] = x[i] * 2;"));
  EXPECT_THAT(refusal("fusion", two + "n - 1 - j]; }\n}\n"),
              HasSubstr("the second loop over i needs x as the first leaves it at its end"));
  EXPECT_THAT(refusal("fusion", loop("x[i] = 0;")), HasSubstr("no loop follows the loop over i"));
}

TEST(DelinearizeTest, PointsToRows) {
  const std::string source = first_of("delinearize", gemm());
  EXPECT_THAT(source, HasSubstr("const float* __restrict A_row = A + i * k;"));
  EXPECT_THAT(source, HasSubstr("sum += A_row[p] * B[p * n + j];"));
  EXPECT_THAT(refusal("delinearize", loop("x[i] = y[i];")),
              HasSubstr("no subscript in the loop over i has a part that stays the same"));
}

TEST(HoistTest, ComputesFixedValuesOnce) {
  EXPECT_THAT(first_of("hoist", loop("x[i] = y[i] / a;")),
              AllOf(HasSubstr("const float fixed = 1.0F / a;"), HasSubstr("x[i] = y[i] * fixed;")));
  EXPECT_THAT(first_of("hoist", loop("x[i] = y[0] * std::sqrt(a) + y[i];")),
              HasSubstr("const float fixed = y[0] * std::sqrt(a);"));
  EXPECT_THAT(refusal("hoist", loop("if (i > 2) { x[i] = y[3]; }")),
              HasSubstr("computes nothing that stays the same"));
}

TEST(HoistTest, KeepsMembersThatAStoreMightChange) {
  const std::string text =
      first_of("hoist",
               "struct Image { const unsigned char* pixels; int width; };\n"
               "void f(const Image& in, unsigned char* out) {\n"
               "  for (int i = 0; i < in.width; ++i) { out[i] = in.pixels[i] / 2; }\n}\n");
  EXPECT_THAT(text, AllOf(HasSubstr("const int fixed = in.width;"), HasSubstr("i < fixed;"),
                          HasSubstr("const unsigned char* const fixed_2 = in.pixels;"),
                          HasSubstr("out[i] = fixed_2[i] / 2;")));
}

TEST(KeepMembersTest, InFrontOfAllLoopsWhoseStoresMightChangeThem) {
  const std::string text =
      first_of("keep_members",
               "struct Image { const unsigned char* pixels; int width; };\n"
               "void f(const Image& in, unsigned char* out, const int* x, int* y, float* z) {\n"
               "  for (int i = 0; i < in.width; ++i) { out[i] = in.pixels[i]; }\n"
               "  for (int j = 0; j < in.width; ++j) { y[j] = x[j] / 3 + x[0]; }\n"
               "  for (int k = 0; k < in.width; ++k) { z[k] = in.pixels[k]; }\n}\n");
  EXPECT_THAT(text, AllOf(HasSubstr("i < fixed"), HasSubstr("j < fixed"),
                          HasSubstr("y[j] = x[j] / 3 + x[0];"), HasSubstr("k < in.width"),
                          HasSubstr("z[k] = in.pixels[k];")));
  EXPECT_THAT(refusal("keep_members",
                      "struct Signal { const float* x; double gain; float last; };\n"
                      "void f(const Signal& in, double* out, int n) {\n"
                      "  for (int i = 0; i < n; ++i) { out[i] = in.x[i] + in.last; }\n}\n"),
              HasSubstr("that its stores might change"));
  EXPECT_THAT(first_of("keep_members",
                       "struct Signal { const float* x; double gain; float last; };\n"
                       "void f(const Signal& in, double* out, int n) {\n"
                       "  for (int i = 0; i < n; ++i) { out[i] = in.x[i] * in.gain; }\n}\n"),
              AllOf(HasSubstr("const double fixed = in.gain;"), HasSubstr("in.x[i] * fixed")));
  EXPECT_THAT(refusal("keep_members",
                      "struct Image { const float* pixels; int width; };\n"
                      "float f(const Image& in) { float sum = 0;\n"
                      "  for (int i = 0; i < in.width; ++i) { sum += in.pixels[i]; }\n"
                      "  return sum;\n}\n"),
              HasSubstr("that its stores might change"));
  EXPECT_THAT(refusal("keep_members", loop("x[i] = y[i] / a;")),
              HasSubstr("no loop reads a member that stays the same"));
}

TEST(KeepResultsTest, InLocalVariablesThroughTheLoop) {
  EXPECT_THAT(first_of("keep_results",
                       "void minmax(const float* v, int n, float& low, float& high) {\n"
                       "  low = v[0];\n  high = v[0];\n"
                       "  for (int i = 1; i < n; ++i) {\n"
                       "    if (v[i] < low) low = v[i];\n    if (v[i] > high) high = v[i];\n"
                       "  }\n}\n"),
              HasSubstr("  float kept = low;\n  float kept_2 = high;\n"
                        "  for (int i = 1; i < n; ++i) {\n"
                        "    kept = v[i] < kept ? v[i] : kept;\n"
                        "    kept_2 = v[i] > kept_2 ? v[i] : kept_2;\n  }\n"
                        "  low = kept;\n  high = kept_2;\n"));
  EXPECT_THAT(
      first_of("keep_results", loop("x[i] = 0; for (int j = 0; j < n; ++j) { x[i] += y[j]; }")),
      HasSubstr("    float kept = x[i];\n    for (int j = 0; j < n; ++j) {\n"
                "      kept += y[j];\n    }\n    x[i] = kept;\n"));
}

TEST(KeepResultsTest, NotWhereTheLoopMayNotReachThemOrReachesThemOtherwise) {
  for (const char* statements : {
           "for (int j = 0; j < n; ++j) { x[i] += y[j]; }",            // not written before
           "x[i] = 0; for (int j = 0; j < n; ++j) { x[i] += x[j]; }",  // also by x[j]
           "x[i] = 0; int k = i; for (int j = 0; j < n; ++j) { x[k] += 1; ++k; }",
           "a = y[i];",  // no reference
       }) {
    EXPECT_THAT(refusal("keep_results", loop(statements)),
                HasSubstr("no loop writes the same element or reference in every round"))
        << statements;
  }
}

TEST(PeelTest, ConditionsThatOnlyTheEndsMeetAreGoneBetween) {
  const std::string edge =
      loop("if (i == 0 || i >= n - 1) { x[i] = 0; } else { x[i] = y[i - 1] + y[i + 1]; }");
  EXPECT_THAT(
      first_of("peel", edge),
      HasSubstr("  if (0 < n) {\n    const int i_first = 0;\n    x[i_first] = 0;\n  }\n"
                "  for (int i = 1; i < n - 1; ++i) {\n    x[i] = y[i - 1] + y[i + 1];\n  }\n"
                "  if (1 < n) {\n    const int i_last = n - 1;\n    x[i_last] = 0;\n  }\n"));
  const std::string window = loop(
      "for (int u = 0; u < 3; ++u) { const int from = i + u - 1; if (from >= 0 && from < n) { x[i] "
      "+= y[from]; } }");
  EXPECT_THAT(first_of("peel", window),
              HasSubstr("for (int i = 1; i < n - 1; ++i) {\n    for (int u = 0; u < 3; ++u) {\n    "
                        "  const int from = i + u - 1;\n      x[i] += y[from];"));
}

TEST(PeelTest, RefusesWhereTheEndsAreNotSpecial) {
  EXPECT_THAT(refusal("peel", loop("x[i] = y[i];")),
              HasSubstr("no condition in a loop looks at its variable"));
  EXPECT_THAT(refusal("peel", loop("if (i > 5) { x[i] = y[i]; }")),
              HasSubstr("tests nothing that only its first and last rounds meet"));
}

TEST(PrefetchTest, NeverReadsBehindAnIndexArray) {
  const std::string source = first_of("prefetch", loop("a += y[at[i]];"));
  EXPECT_THAT(source, HasSubstr("const int i_ahead = i + AHEAD_I < n ? i + AHEAD_I : i;"));
  EXPECT_THAT(source, HasSubstr("__builtin_prefetch(&y[at[i_ahead]]);"));
  EXPECT_THAT(refusal("prefetch", loop("a += 1;")),
              HasSubstr("reads no array at a place that moves with it"));
}

TEST(PrivatizeTest, GivesRoundsScratchMemoryOfTheirOwn) {
  const std::string scratch = loop(
      "for (int j = 0; j < n; ++j) { x[j] = y[j] * i; }\nfor (int j = 0; j < n; ++j) { a += x[j]; "
      "}");
  const std::string source = first_of("privatize", scratch);
  EXPECT_THAT(source, HasSubstr("sizeof(float) * static_cast<std::size_t>(n > 0 ? n : 1));"));
  EXPECT_THAT(source, HasSubstr("x_own[j] = y[j] * i;"));
  EXPECT_THAT(first_of("parallel", source),
              HasSubstr("#pragma omp parallel for schedule(static) reduction(+ : a)"));
  EXPECT_THAT(refusal("privatize", loop("for (int j = 0; j < n; ++j) { x[j] += y[i]; }")),
              HasSubstr("a round of the loop over i uses what stands in x before"));
  EXPECT_THAT(refusal("privatize", loop("for (int j = 0; j < n; ++j) { x[2 * j] = y[i]; }")),
              HasSubstr("how much of x a round of the loop over i uses is not known"));
}

TEST(LimitThreadsTest, GivesAParallelLoopAPartOfTheThreads) {
  const std::string source = first_of("limit_threads", first_of("parallel", loop("x[i] = y[i];")));
  EXPECT_THAT(source, HasSubstr("// kp:tune THREAD_SHARE = 1 2 3 4 8\n"));
  EXPECT_THAT(source, HasSubstr("schedule(static) num_threads((omp_get_max_threads() + "
                                "THREAD_SHARE - 1) / THREAD_SHARE)"));
  EXPECT_THAT(source, HasSubstr("#include <omp.h>"));
  EXPECT_THAT(refusal("limit_threads", source), HasSubstr("has a limit already"));
  EXPECT_THAT(refusal("limit_threads", loop("x[i] = y[i];")),
              HasSubstr("the loop over i is not shared among threads"));
}

TEST(VectorMathTest, ReplacesFunctionsOnFloatInLoopsOnly) {
  const std::string source = first_of(
      "vector_math", loop("x[i] = std::exp(y[i]) + std::tanh(y[i]);", "  a = std::exp(a);\n"));
  EXPECT_THAT(source, HasSubstr("x[i] = kp_vector_exp(y[i]) + kp_vector_tanh(y[i]);"));
  EXPECT_THAT(source, HasSubstr("a = std::exp(a);"));
  EXPECT_THAT(refusal("vector_math", loop("x[i] = std::exp(1.0);")),
              HasSubstr("no loop calls exp, log or tanh on float"));
}

TEST(RestrictPointersTest, MarksParametersOfLocalFunctions) {
  EXPECT_THAT(first_of("restrict_pointers", loop("x[i] = y[i];")),
              HasSubstr("static float f(int n, float a, float* __restrict x, const float* "
                        "__restrict y, const int* __restrict at)"));
  EXPECT_THAT(refusal("restrict_pointers", gemm()),
              HasSubstr("no function of this file with a loop takes pointers"));
}

TEST(ParallelTest, SharesRoundsWithReductions) {
  EXPECT_THAT(
      first_of("parallel", loop("a += y[i];")),
      HasSubstr("#pragma omp parallel for schedule(static) reduction(+ : a)\n  for (int i"));
  EXPECT_THAT(first_of("parallel", loop("a = y[i] > a ? y[i] : a;")),
              HasSubstr("reduction(max : a)"));
  EXPECT_THAT(rewritten("parallel", gemm()),
              Contains(Field(&Rewritten::source, HasSubstr("collapse(2)"))));
  EXPECT_THAT(first_of("parallel", loop("x[i] = a;"), {{"schedule", "guided"}}),
              HasSubstr("schedule(guided)"));
}

TEST(ParallelTest, ThreadsCountInTablesOfTheirOwn) {
  const auto with_table = [](const std::string& clear, const std::string& more = "") {
    return "#include <cstring>\nvoid f(const unsigned char* x, unsigned* counts, int n) {\n  " +
           clear + "\n  for (int i = 0; i < n; ++i) { counts[x[i]]++;" + more + " }\n}\n";
  };
  const std::string memset = "std::memset(counts, 0, 256 * sizeof(unsigned));";
  EXPECT_THAT(first_of("parallel", with_table(memset)), HasSubstr(" reduction(+ : counts[:256])"));
  EXPECT_THAT(first_of("parallel", with_table("for (int b = 0; b < n; ++b) counts[b] = 0;"),
                       {{"site", "i"}}),
              HasSubstr(" reduction(+ : counts[:n])"));
  EXPECT_THAT(first_of("parallel", with_table(memset, " counts[i] = 0;")),
              Not(HasSubstr("reduction")));
}

TEST(ParallelTest, RefusesWhatRoundsShare) {
  EXPECT_THAT(refusal("parallel", loop("a = a * 0.5F + y[i];")),
              HasSubstr("carries a from round to round"));
  EXPECT_THAT(refusal("parallel", loop("x[0] = y[i];")),
              HasSubstr("writes the same elements of x"));
  EXPECT_THAT(refusal("parallel", loop("if (y[i] > a) break;\nx[i] = 1;")),
              HasSubstr("can be left early"));
  EXPECT_THAT(refusal("parallel", first_of("parallel", loop("x[i] = y[i];"))),
              HasSubstr("is parallel already"));
}

TEST(SimdTest, AsksForVectors) {
  EXPECT_THAT(first_of("simd", loop("if (y[i] > a) { a = y[i]; }")),
              HasSubstr("#pragma omp simd reduction(max : a)\n  for (int i = 0; i < n; ++i) {\n    "
                        "a = y[i] > a ? y[i] : a;"));
  EXPECT_THAT(first_of("simd", first_of("parallel", loop("x[i] = y[i];"))),
              HasSubstr("#pragma omp parallel for simd schedule(static)"));
}

TEST(SimdTest, RefusesElementsWhereRoundsMayMeet) {
  const auto table = [](const std::string& body) {
    return "void f(const int* t, float* h, const float* v, int n) {\n"
           "  for (int i = 0; i < n; ++i) { " +
           body + " }\n}\n";
  };
  for (const char* const body : {"h[t[i]] += v[i];", "const int w = t[i]; h[w] += 1;",
                                 "h[i % 4] += v[i];", "const int w = t[i]; h[w] = h[w] * v[i];"}) {
    EXPECT_THAT(refusal("simd", table(body)), HasSubstr("may meet at one element of h")) << body;
  }
  for (const char* const body : {"h[i] += v[i];", "h[2 * i + 1] += v[t[i]];",
                                 "const int w = n - i; h[w] += v[i];", "h[t[i]] = v[i];"}) {
    EXPECT_THAT(first_of("simd", table(body)), HasSubstr("#pragma omp simd")) << body;
  }
}

TEST(UnrollTest, SpeaksTheCompilersLanguage) {
  EXPECT_THAT(first_of("unroll", loop("x[i] = y[i];")),
              HasSubstr("#pragma GCC unroll UNROLL\n  for"));
  EXPECT_THAT(first_of("unroll", loop("x[i] = y[i];"), {{"compiler", "clang++-19"}}),
              HasSubstr("#pragma clang loop unroll_count(UNROLL)\n  for"));
}

TEST(OmpTileTest, AsksForTilesOfABand) {
  EXPECT_THAT(first_of("omp_tile", gemm()),
              HasSubstr("#pragma omp tile sizes(TILE_I, TILE_J)\n  for (int64_t i"));
  EXPECT_THAT(refusal("omp_tile", loop("x[i] = a;")), HasSubstr("has no loop perfectly inside it"));
}

}  // namespace
}  // namespace kernelpro
