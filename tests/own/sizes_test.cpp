// Functions whose sizes have something in common: blocks, multiples, rows that lie apart.
#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "own/learned.hpp"

namespace kernelpro {
namespace {

using namespace own_tests;

using ::testing::ElementsAre;

class OwnSizes : public LearnedTask {};

// Below a block of 64 nothing of x and w is read.
TEST_F(OwnSizes, BlocksThatNoSmallSizeFillsAreSeen) {
  const Task task =
      learned("blocks.cpp",
              "#include <cstdint>\n"
              "void matmul_q(float* out, const int8_t* x, const float* xs, const int8_t* w,\n"
              "              const float* ws, int n, int d) {\n"
              "  const int group = 64;\n"
              "  for (int i = 0; i < d; i++) {\n"
              "    float sum = 0;\n"
              "    for (int j = 0; j <= n - group; j += group) {\n"
              "      int32_t part = 0;\n"
              "      for (int k = 0; k < group; k++) part += x[j + k] * w[i * n + j + k];\n"
              "      sum += (float)part * ws[(i * n + j) / group] * xs[j / group];\n"
              "    }\n"
              "    out[i] = sum;\n  }\n}\n",
              "matmul_q", sized({{"n", 512}, {"d", 64}}));
  EXPECT_EQ(task.held_out.at("n").step, 64);
  EXPECT_THAT(shape_of(tensor(task, "x")), ElementsAre("n"));
  EXPECT_THAT(shape_of(tensor(task, "w")), ElementsAre("d", "n"));
  EXPECT_THAT(shape_of(tensor(task, "xs")), ElementsAre("n/64"));
}

// Of one column there is none to compare with the first.
TEST_F(OwnSizes, ResultsOfAllButTheFirstHaveSmallSizesToo) {
  const Task task =
      learned("largest.cpp",
              "#include <cstddef>\n"
              "void largest(const double* a, std::size_t rows, std::size_t cols, int* index) {\n"
              "  for (std::size_t r = 0; r < rows; ++r) {\n"
              "    int best = 0;\n"
              "    for (std::size_t c = 1; c < cols; ++c)\n"
              "      if (a[r * cols + c] > a[r * cols + best]) best = static_cast<int>(c);\n"
              "    index[r] = best;\n  }\n}\n",
              "largest", sized({{"rows", 200}, {"cols", 100}}));
  const auto least = task.reduction.evaluate({{"rows", 1}, {"cols", 1}});
  ASSERT_TRUE(least.ok()) << least.error().text();
  EXPECT_EQ(*least, 1);
  EXPECT_GE(*task.reduction.evaluate({{"rows", 8}, {"cols", 100}}), 50);
}

TEST_F(OwnSizes, WordsOfManyBitsAreCountedAlsoBetweenTheirMultiples) {
  const Task task =
      learned("bits.cpp",
              "#include <cstdint>\n#include <cstddef>\n"
              "void both(const uint64_t* a, const uint64_t* b, uint64_t* c, size_t bits) {\n"
              "  for (size_t i = 0; i < (bits + 63) / 64; ++i) c[i] = a[i] & b[i];\n}\n",
              "both", sized({{"bits", 64000}}));
  EXPECT_THAT(shape_of(tensor(task, "a")), ElementsAre("(bits + 63)/64"));
  EXPECT_EQ(task.held_out.at("bits").step, 1);
}

TEST_F(OwnSizes, NumbersThatLieApartAreTimedSideBySide) {
  const Task task = learned("saxpy.cpp",
                            "void saxpy(int n, float a, const float* x, int incx, float* y,\n"
                            "           int incy) {\n"
                            "  for (int i = 0; i < n; ++i) y[i * incy] += a * x[i * incx];\n}\n",
                            "saxpy");
  EXPECT_THAT(shape_of(tensor(task, "x")), ElementsAre("(n - 1)*incx + 1"));
  EXPECT_EQ(task.timed_shapes.at(0).at("incx"), 1);
  EXPECT_EQ(task.timed_shapes.at(0).at("incy"), 1);
  EXPECT_GT(task.held_out.at("incy").high, 1);
}

// What is asserted of a size says nothing of how far the function reaches.
TEST_F(OwnSizes, BlocksAreSeenAlsoWhereABoundIsAsserted) {
  const Task task = learned("part.cpp",
                            "#include <cassert>\n"
                            "void part(const float* x, const float* w, float* y, int n) {\n"
                            "  assert(n >= 8);\n"
                            "  for (int i = 0; i < n; ++i) y[i] = x[i];\n"
                            "  for (int j = 0; j + 64 <= n; j += 64)\n"
                            "    for (int k = 0; k < 64; ++k) y[j + k] += w[j + k];\n}\n",
                            "part", sized({{"n", 6400}}));
  EXPECT_EQ(tensor(task, "w").shape.back().text(), "n/64");
  EXPECT_GE(task.held_out.at("n").low, 64);
}

TEST_F(OwnSizes, WhatIsCheckedDoesNotSayHowFarItReaches) {
  NewTask wishes = sized({{"n", 4096}});
  wishes.held_out["n"] = {8, 8, 1};
  const Task task = learned("twice.cpp",
                            "void twice(const float* x, float* y, int n) {\n"
                            "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n",
                            "twice", wishes);
  EXPECT_THAT(shape_of(tensor(task, "x")), ElementsAre("n"));
  NewTask few;
  few.held_out["k"] = {1, 5, 1};
  const Task taps = learned("taps.cpp",
                            "void taps(const float* x, float* y, int n, int k) {\n"
                            "  float t[5];\n"
                            "  for (int j = 0; j < k; ++j) t[j] = x[j];\n"
                            "  for (int i = 0; i < n; ++i) {\n    float s = 0;\n"
                            "    for (int j = 0; j < k; ++j) s += t[j] * x[i + j];\n"
                            "    y[i] = s;\n  }\n}\n",
                            "taps", few);
  EXPECT_LE(taps.timed_shapes.at(0).at("k"), 5);
}

TEST_F(OwnSizes, ASignalIsLongerThanItsFilterByAnyNumber) {
  const Task task = learned("fir.cpp",
                            "#include <cassert>\n"
                            "void fir(const float* x, const float* h, float* y, int n, int k) {\n"
                            "  assert(n >= k);\n"
                            "  for (int i = 0; i + k <= n; ++i) {\n    float s = 0;\n"
                            "    for (int j = 0; j < k; ++j) s += x[i + j] * h[j];\n"
                            "    y[i] = s;\n  }\n}\n",
                            "fir");
  EXPECT_THAT(shape_of(tensor(task, "y")), ElementsAre("n - k + 1"));
  EXPECT_GE(task.held_out.at("n").low, task.held_out.at("k").high);
  EXPECT_GT(task.timed_shapes.at(0).at("n"), 100 * task.timed_shapes.at(0).at("k"));
}

TEST_F(OwnSizes, WhatAFunctionAssertsOfItsSizesIsFound) {
  const Task task = learned("chunks.cpp",
                            "#include <cassert>\n"
                            "void largest(const float* x, float* y, int n) {\n"
                            "  assert(n % 32 == 0);\n"
                            "  for (int i = 0; i < n / 32; i++) {\n"
                            "    float best = 0;\n"
                            "    for (int j = 0; j < 32; j++) best = x[i * 32 + j] > best ? "
                            "x[i * 32 + j] : best;\n"
                            "    y[i] = best;\n  }\n}\n",
                            "largest", sized({{"n", 6400}}));
  EXPECT_EQ(task.held_out.at("n").step, 32);
  EXPECT_THAT(shape_of(tensor(task, "x")), ElementsAre("n"));
}

TEST_F(OwnSizes, AWidthThatMustBeEvenIsTakenSo) {
  const Task task =
      learned("halves.cpp",
              "void chroma(const unsigned char* uv, unsigned char* out, int w, int h) {\n"
              "  for (int j = 0; j < h; ++j)\n"
              "    for (int i = 0; i < w; ++i)\n"
              "      out[j * w + i] = uv[j / 2 * w + (i & ~1)] ^ uv[j / 2 * w + (i & ~1) + 1];\n"
              "}\n",
              "chroma", sized({{"w", 64}, {"h", 64}}));
  EXPECT_EQ(task.held_out.at("w").step, 2);
  EXPECT_EQ(task.held_out.at("h").step, 1);
  EXPECT_THAT(shape_of(tensor(task, "out")), ElementsAre("h", "w"));
}

TEST_F(OwnSizes, HeadsDivideTheChannels) {
  const Task task =
      learned("heads.cpp",
              "void scores(float* out, const float* in, int T, int C, int NH) {\n"
              "  const int size = C / NH;\n"
              "  for (int t = 0; t < T; t++)\n"
              "    for (int h = 0; h < NH; h++) {\n"
              "      float sum = 0;\n"
              "      for (int i = 0; i < size; i++) sum += in[t * 2 * C + h * size + i] *\n"
              "                                            in[t * 2 * C + C + h * size + i];\n"
              "      out[t * NH + h] = sum;\n    }\n}\n",
              "scores", sized({{"T", 64}, {"NH", 8}, {"C_per_NH", 16}}));
  EXPECT_THAT(shape_of(tensor(task, "out")), ElementsAre("NH", "T"));
  ASSERT_FALSE(task.axes.empty());
  bool derived = false;
  for (const AxisSpec& axis : task.axes) {
    derived =
        derived || (axis.name == "C" && axis.derived && axis.derived->text() == "NH*C_per_NH");
  }
  EXPECT_TRUE(derived);
}

// Rows of c would overlap with ldc below m, and nobody calls it so.
TEST_F(OwnSizes, RowsThatLieApartHaveRoomBetweenThem) {
  const Task task =
      learned("dgemm.cpp",
              "void dgemm(int m, int n, int k, double alpha, const double* a, int lda,\n"
              "           const double* b, int ldb, double beta, double* c, int ldc) {\n"
              "  for (int i = 0; i < m; i++)\n"
              "    for (int j = 0; j < n; j++) {\n"
              "      double sum = 0;\n"
              "      for (int p = 0; p < k; p++) sum += a[p * lda + i] * b[j * ldb + p];\n"
              "      c[j * ldc + i] = alpha * sum + beta * c[j * ldc + i];\n    }\n}\n",
              "dgemm", sized({{"m", 48}, {"n", 48}, {"k", 48}, {"lda", 48}, {"ldb", 48}}));
  EXPECT_THAT(shape_of(tensor(task, "a")), ElementsAre("(k - 1)*lda + m"));
  EXPECT_THAT(shape_of(tensor(task, "c")), ElementsAre("(n - 1)*ldc + m"));
  EXPECT_EQ(task.reduction.text(), "(k)");
  EXPECT_EQ(task.held_out.at("ldc_room").low, 1);
  EXPECT_EQ(task.timed_shapes.at(0).at("ldc_room"), 1);
}

}  // namespace
}  // namespace kernelpro
