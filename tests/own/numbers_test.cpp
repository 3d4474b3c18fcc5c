// Functions whose numbers decide what they do, and what is said where they cannot be known.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "own/learned.hpp"

namespace kernelpro {
namespace {

using namespace own_tests;

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class OwnNumbers : public LearnedTask {};

std::vector<std::string> axes_of(const Task& task) {
  std::vector<std::string> names;
  for (const AxisSpec& axis : task.axes) {
    names.push_back(axis.name);
  }
  return names;
}

// Of an image of zeros every box has the same mean.
TEST_F(OwnNumbers, ARadiusOfBytesIsNoNumberWithoutEffect) {
  const Task task = learned("box.cpp",
                            "#include <cstdint>\n"
                            "void box(const uint8_t* in, uint8_t* out, int w, int radius) {\n"
                            "  for (int i = 0; i < w; ++i) {\n"
                            "    int sum = 0, count = 0;\n"
                            "    for (int x = i - radius; x <= i + radius; ++x)\n"
                            "      if (x >= 0 && x < w) { sum += in[x]; ++count; }\n"
                            "    out[i] = sum / count;\n  }\n}\n",
                            "box", sized({{"w", 4000}}));
  EXPECT_THAT(axes_of(task), Contains("radius"));
}

TEST_F(OwnNumbers, WhatZerosDoNotChangeIsWrittenForOthers) {
  const Task paths = learned("paths.cpp",
                             "void paths(int* d, int n) {\n"
                             "  for (int k = 0; k < n; ++k)\n"
                             "    for (int i = 0; i < n; ++i)\n"
                             "      for (int j = 0; j < n; ++j)\n"
                             "        if (d[i * n + k] + d[k * n + j] < d[i * n + j])\n"
                             "          d[i * n + j] = d[i * n + k] + d[k * n + j];\n}\n",
                             "paths", sized({{"n", 48}}));
  ASSERT_EQ(paths.outputs.size(), 1U);
  EXPECT_THAT(shape_of(paths.outputs[0]), ElementsAre("n", "n"));
  EXPECT_EQ(paths.inputs.size(), 1U);
}

// How many are kept depends on the numbers, how many there may be does not.
TEST_F(OwnNumbers, WhatIsKeptOfNumbersIsNoPlaceInAnother) {
  const Task task = learned("keep.cpp",
                            "int keep(const int* in, int* out, int n) {\n"
                            "  int k = 0;\n"
                            "  for (int i = 0; i < n; ++i) if (in[i] > 0) out[k++] = in[i];\n"
                            "  return k;\n}\n",
                            "keep", sized({{"n", 4000}}));
  ASSERT_EQ(task.outputs.size(), 2U);
  EXPECT_THAT(shape_of(task.outputs[0]), ElementsAre("n"));
  EXPECT_EQ(task.inputs.at(0).values.kind, ValueKind::uniform);
}

// The kernel is smaller than the volume: with sizes drawn alike it hardly ever is.
TEST_F(OwnNumbers, SizesThatOthersAreTakenFromAreSmall) {
  const Task task = learned(
      "conv.cpp",
      "void conv(const float* in, const float* k, float* out, int D, int H, int W,\n"
      "          int KD, int KH, int KW) {\n"
      "  const int OD = D - KD + 1, OH = H - KH + 1, OW = W - KW + 1;\n"
      "  for (int z = 0; z < OD; ++z)\n    for (int y = 0; y < OH; ++y)\n"
      "      for (int x = 0; x < OW; ++x) {\n        float s = 0;\n"
      "        for (int a = 0; a < KD; ++a)\n          for (int b = 0; b < KH; ++b)\n"
      "            for (int c = 0; c < KW; ++c)\n"
      "              s += in[((z + a) * H + y + b) * W + x + c] * k[(a * KH + b) * KW + c];\n"
      "        out[(z * OH + y) * OW + x] = s;\n      }\n}\n",
      "conv", sized({{"D", 12}, {"H", 12}, {"W", 12}, {"KD", 3}, {"KH", 3}, {"KW", 3}}));
  ASSERT_EQ(task.inputs.size(), 2U);
  EXPECT_THAT(shape_of(task.inputs[0]), ElementsAre("D", "H", "W"));
  EXPECT_THAT(shape_of(task.inputs[1]), ElementsAre("KD", "KH", "KW"));
  EXPECT_THAT(shape_of(task.outputs.at(0)), ElementsAre("D - KD + 1", "H - KH + 1", "W - KW + 1"));
}

TEST_F(OwnNumbers, AStageOfPairsNeedsAnEvenMultiple) {
  const Task task = learned("stage.cpp",
                            "void stage(float* re, const float* w, int n, int half) {\n"
                            "  for (int base = 0; base < n; base += 2 * half)\n"
                            "    for (int k = 0; k < half; ++k) {\n"
                            "      const int a = base + k, b = a + half;\n"
                            "      const float x = re[b] * w[k * (n / (2 * half))];\n"
                            "      re[b] = re[a] - x;\n      re[a] += x;\n    }\n}\n",
                            "stage", sized({{"half", 16}, {"n_per_half", 16}}));
  ASSERT_EQ(task.outputs.size(), 1U);
  EXPECT_THAT(shape_of(task.outputs[0]), ElementsAre("n"));
  for (const AxisSpec& axis : task.axes) {
    EXPECT_TRUE(axis.name != "n" || (axis.derived && axis.derived->text() == "2*half*n_per_half"));
  }
}

TEST(OwnRefusal, NeverTakesAllSizesForTheSameInSilence) {
  const OwnProject project;
  const std::string why = project.refusal(
      "void mix(const float* x, float* y, int n, int m) {\n"
      "  if (n % (m + 1) == n % m) return;\n"
      "  if (n != m) __builtin_trap();\n"
      "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n",
      "mix");
  EXPECT_THAT(why, AllOf(HasSubstr("which of its sizes belong together"), HasSubstr("--fix m=n")));
}

TEST_F(OwnNumbers, LinesOfAnImageAreTimedSideBySide) {
  const Task task = learned("gray.cpp",
                            "#include <cstddef>\n"
                            "void gray(const unsigned char* in, size_t pitch, unsigned char* out,\n"
                            "          int w, int h) {\n"
                            "  for (int y = 0; y < h; ++y)\n    for (int x = 0; x < w; ++x) {\n"
                            "      const unsigned char* p = in + y * pitch + 3 * x;\n"
                            "      out[y * w + x] = (p[0] + 2 * p[1] + p[2]) >> 2;\n    }\n}\n",
                            "gray");
  ASSERT_EQ(task.timed_shapes.size(), 1U);
  const Axes& timed = task.timed_shapes[0];
  EXPECT_EQ(timed.at("pitch"), 3 * timed.at("w"));
  EXPECT_LT(task.held_out.at("pitch").low, 3);
}

// Sizes of trials are so much alike that rows of four bytes for each pixel always overlap.
TEST_F(OwnNumbers, WhatLiesBetweenRowsStaysAsItIs) {
  const Task task =
      learned("spread.cpp",
              "#include <cstddef>\n"
              "void spread(const unsigned char* in, unsigned char* out, size_t pitch,\n"
              "            int w, int h) {\n"
              "  for (int y = 0; y < h; ++y)\n    for (int x = 0; x < w; ++x)\n"
              "      for (int c = 0; c < 4; ++c)\n"
              "        out[y * pitch + 4 * x + c] = in[y * w + x] ^ c;\n}\n",
              "spread", sized({{"w", 64}, {"h", 64}}));
  EXPECT_EQ(task.entry->copies.at("out"), "out_in");
}

TEST_F(OwnNumbers, BoundsThatAreAssertedAreKept) {
  const Task large = learned("large.cpp",
                             "#include <cassert>\n"
                             "void large(const float* x, float* y, int n) {\n"
                             "  assert(n >= 1000 && \"it is for long ones\");\n"
                             "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n",
                             "large");
  EXPECT_EQ(large.held_out.at("n").low, 1000);
  const Task pool = learned("pool.cpp",
                            "#include <cassert>\n"
                            "void pool(const float* x, float* y, int n, int k) {\n"
                            "  assert(n >= 64 && n % k == 0 && k <= 8);\n"
                            "  for (int i = 0; i < n / k; ++i) {\n    float s = 0;\n"
                            "    for (int j = 0; j < k; ++j) s += x[i * k + j];\n"
                            "    y[i] = s / k;\n  }\n}\n",
                            "pool");
  EXPECT_EQ(pool.held_out.at("k").high, 8);
  EXPECT_GE(pool.held_out.at("n_per_k").low, 64);
  EXPECT_LE(pool.timed_shapes.at(0).at("k"), 8);
  const Task power = learned("power.cpp",
                             "#include <cassert>\n"
                             "void power(const float* x, float* y, int n) {\n"
                             "  assert((n & (n - 1)) == 0);\n"
                             "  for (int i = 0; i < n; ++i) y[i] = x[(i * 5) & (n - 1)];\n}\n",
                             "power");
  const std::int64_t timed = power.timed_shapes.at(0).at("n");
  EXPECT_EQ(timed & (timed - 1), 0);
  const Task lines =
      learned("lines.cpp",
              "#include <cassert>\n"
              "void lines(const float* x, int ldx, float* y, int m, int n) {\n"
              "  assert(ldx >= n);\n"
              "  for (int i = 0; i < m; ++i)\n"
              "    for (int j = 0; j < n; ++j) y[i * n + j] = 2 * x[i * ldx + j];\n}\n",
              "lines");
  EXPECT_THAT(axes_of(lines), Contains("ldx_room"));
}

// Rows of A have eight entries each, so it has as many rows at least.
TEST_F(OwnNumbers, CompressedColumnsHaveRoomForTheirEntries) {
  const Task task =
      learned("csc.cpp",
              "void csc(int m, int n, const int* ptr, const int* row,\n"
              "         const double* val, const double* x, double* y) {\n"
              "  for (int i = 0; i < m; ++i) y[i] = 0;\n"
              "  for (int j = 0; j < n; ++j)\n"
              "    for (int p = ptr[j]; p < ptr[j + 1]; ++p) y[row[p]] += val[p] * x[j];\n}\n",
              "csc", sized({{"m", 500}, {"n", 500}}));
  EXPECT_GE(task.held_out.at("m").low, 8);
}

// A number that chooses a border is none of the sizes that others have.
TEST_F(OwnNumbers, ANumberThatChoosesAWayIsNotWithoutEffect) {
  const Task task =
      learned("edge.cpp",
              "void edge(const float* x, float* y, int n, int mode) {\n"
              "  for (int i = 0; i < n; ++i) {\n"
              "    const float left = i > 0 ? x[i - 1] : mode == 1 ? x[0] : mode == 2 ? 1 : 0;\n"
              "    y[i] = left + x[i];\n  }\n}\n",
              "edge", sized({{"n", 4000}}));
  EXPECT_THAT(axes_of(task), Contains("mode_choice"));
  EXPECT_EQ(task.held_out.at("mode_choice").high, 3) << "1, 2 and another number";
}

TEST_F(OwnNumbers, OfTwoThatAreAssertedInOrderOneLiesBelowTheOther) {
  const Task task =
      learned("clamp.cpp",
              "#include <cassert>\n"
              "void clamp(const double* x, double* y, int n, double top, double end) {\n"
              "  assert(end < top);\n"
              "  for (int i = 0; i < n; ++i)\n"
              "    y[i] = x[i] < end ? end : x[i] > top ? top : x[i];\n}\n",
              "clamp", sized({{"n", 4000}}));
  ASSERT_EQ(task.scalars.size(), 2U);
  EXPECT_EQ(task.scalars[0].low, 0.5);
  EXPECT_EQ(task.scalars[1].high, -0.5);
}

TEST(OwnRefusal, ProposesNumbersThatAnAssertTakes) {
  const OwnProject project;
  const std::string why = project.refusal(
      "#include <cassert>\nstruct Edge {\n  int wide;\n  int left;\n};\n"
      "void pad(const float* x, float* y, int n, const Edge& e) {\n"
      "  assert(3 * e.left <= e.wide && e.wide < 6 && e.left > 0);\n"
      "  for (int i = 0; i < n; ++i) y[i] = e.left * x[i];\n}\n",
      "pad");
  EXPECT_THAT(why, AllOf(HasSubstr("its own assert( "), HasSubstr("--fix e_left=1"),
                         HasSubstr("--fix e_wide=")));
}

TEST(OwnRefusal, NamesTheAssertionThatFails) {
  const OwnProject project;
  const std::string why = project.refusal(
      "#include <cassert>\nvoid f(const float* x, float* y, int n) {\n"
      "  const int blocks = n / 512;\n  assert(blocks > 3);\n"
      "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n",
      "f");
  EXPECT_THAT(why, AllOf(HasSubstr("its own assert( blocks > 3 ) fails at every size tried"),
                         HasSubstr("--held-out n=")));
}

}  // namespace
}  // namespace kernelpro
