// Kinds of functions that become tasks, each with what is learned of it.
#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "own/learned.hpp"

namespace kernelpro {
namespace {

using namespace own_tests;

using ::testing::ElementsAre;

class OwnKinds : public LearnedTask {};

TEST_F(OwnKinds, AnInstanceOfATemplateAmongOthersTakesAStandardArray) {
  const Task task = learned("window.cpp",
                            "#include <array>\n"
                            "template <int N>\n"
                            "void window(const std::array<float, N>& w, const float* x, float* y,\n"
                            "            int n) {\n"
                            "  for (int i = 0; i < n; ++i) y[i] = w[i % N] * x[i];\n"
                            "}\n"
                            "template void window<4>(const std::array<float, 4>&, const float*,\n"
                            "                        float*, int);\n"
                            "template void window<8>(const std::array<float, 8>&, const float*,\n"
                            "                        float*, int);\n",
                            "window<8>", sized({{"n", 4000}}));
  ASSERT_EQ(task.inputs.size(), 2U);
  EXPECT_THAT(shape_of(task.inputs[0]), ElementsAre("8"));
  EXPECT_THAT(shape_of(task.inputs[1]), ElementsAre("n"));
}

TEST_F(OwnKinds, AStructOfCWithoutATagIsKnownByItsTypedef) {
  const Task task = learned("rotate.c",
                            "typedef struct {\n  float re;\n  float im;\n} pair;\n"
                            "void rotate(pair *restrict out, const pair *restrict in, int n) {\n"
                            "  int i;\n"
                            "  for (i = 0; i < n; ++i) {\n"
                            "    out[i].re = -in[i].im;\n    out[i].im = in[i].re;\n  }\n}\n",
                            "rotate", sized({{"n", 3000}}));
  ASSERT_EQ(task.inputs.size(), 1U);
  EXPECT_THAT(shape_of(task.inputs[0]), ElementsAre("n", "2"));
}

TEST_F(OwnKinds, AStructThatIsAnInstanceOfATemplate) {
  const Task task = learned("view.cpp",
                            "template <class T, class Size>\n"
                            "struct View {\n  Size n;\n  const T* x;\n};\n"
                            "using Doubles = View<double, int>;\n"
                            "void twice(const Doubles& v, double* y) {\n"
                            "  for (int i = 0; i < v.n; ++i) y[i] = 2 * v.x[i];\n}\n",
                            "twice");
  ASSERT_EQ(task.inputs.size(), 1U);
  EXPECT_EQ(task.inputs[0].dtype, DType::f64);
  EXPECT_EQ(shape_of(task.inputs[0]), shape_of(task.outputs.at(0)));
}

// A label picks a column of its own row, so it stays below the columns.
TEST_F(OwnKinds, AReturnedNumberMayHaveATypeWithANameOfItsOwn) {
  for (const std::string type : {"double", "uint64_t"}) {
    const Task task = learned("total.cpp",
                              "#include <cstdint>\n"
                              "typedef " +
                                  type +
                                  " whole;\nusing sum_t = whole;\n"
                                  "sum_t total(const uint32_t* counts, int n) {\n"
                                  "  sum_t sum = 0;\n"
                                  "  for (int i = 0; i < n; ++i) sum += counts[i];\n"
                                  "  return sum;\n}\n",
                              "total", sized({{"n", 4000}}));
    ASSERT_EQ(task.outputs.size(), 1U) << type;
    EXPECT_THAT(shape_of(task.inputs.at(0)), ElementsAre("n"));
  }
}

TEST_F(OwnKinds, AnIndexAlongRowsStaysBelowTheirLength) {
  const Task task = learned("pick.cpp",
                            "void pick(const float* x, const int* label, float* y, int rows,\n"
                            "          int columns) {\n"
                            "  for (int r = 0; r < rows; ++r) {\n"
                            "    float sum = 0;\n"
                            "    for (int c = 0; c < columns; ++c) sum += x[r * columns + c];\n"
                            "    y[r] = sum - x[r * columns + label[r]];\n  }\n}\n",
                            "pick", sized({{"rows", 64}, {"columns", 48}}));
  ASSERT_EQ(task.inputs.size(), 2U);
  EXPECT_EQ(task.inputs[1].values.kind, ValueKind::index);
  EXPECT_EQ(task.inputs[1].values.bound.text(), "columns");
}

TEST_F(OwnKinds, WhatResizesIsTimedWhereItDoesNotCopy) {
  const Task task = learned("halve.cpp",
                            "void nearest(const float* in, int from, float* out, int to) {\n"
                            "  for (int i = 0; i < to; ++i) {\n"
                            "    out[i] = in[(long)i * from / to];\n  }\n}\n",
                            "nearest");
  ASSERT_EQ(task.timed_shapes.size(), 1U);
  EXPECT_LT(task.timed_shapes[0].at("to"), task.timed_shapes[0].at("from"));
}

TEST_F(OwnKinds, WholeNumbersOutOfRealArithmeticAreThoseOfTheOriginal) {
  const std::string text =
      "#include <cstdint>\n"
      "void dim(const std::uint8_t* in, std::uint8_t* out, float by, int n) {\n"
      "  for (int i = 0; i < n; ++i) {\n"
      "    out[i] = static_cast<std::uint8_t>(in[i] * by + 0.5f);\n  }\n}\n";
  const Task task = learned("dim.cpp", text, "dim", sized({{"n", 4000}}));
  EXPECT_TRUE(task.reference.baseline);
  const Task whole = learned("wrap.cpp",
                             "#include <cstdint>\n"
                             "void wrap(const std::uint8_t* in, std::uint8_t* out, int n) {\n"
                             "  for (int i = 0; i < n; ++i) out[i] = in[i] + 7;\n}\n",
                             "wrap", sized({{"n", 4000}}));
  EXPECT_FALSE(whole.reference.baseline);
}

TEST_F(OwnKinds, StructsInStructsAndArraysOfTwoBounds) {
  const Task task =
      learned("boxes.cpp",
              "struct Point {\n  float x, y, z;\n};\n"
              "struct Box {\n  Point low, high;\n};\n"
              "struct Turn {\n  float m[3][3];\n};\n"
              "void corners(const Box* boxes, const Turn& turn, float (*out)[2][3],\n"
              "             int n) {\n"
              "  for (int i = 0; i < n; ++i)\n"
              "    for (int r = 0; r < 3; ++r) {\n"
              "      const Box& b = boxes[i];\n"
              "      const float* m = turn.m[r];\n"
              "      out[i][0][r] = m[0] * b.low.x + m[1] * b.low.y + m[2] * b.low.z;\n"
              "      out[i][1][r] = m[0] * b.high.x + m[1] * b.high.y + m[2] * b.high.z;\n"
              "    }\n}\n",
              "corners", sized({{"n", 2000}}));
  ASSERT_EQ(task.inputs.size(), 2U);
  EXPECT_THAT(shape_of(task.inputs[0]), ElementsAre("n", "6"));
  EXPECT_THAT(shape_of(task.inputs[1]), ElementsAre("9"));
  EXPECT_THAT(shape_of(task.outputs.at(0)), ElementsAre("n", "6"));
}

TEST_F(OwnKinds, StructsOfSeveralKindsOfNumbersAreATensorForEach) {
  const Task task =
      learned("blocks.cpp",
              "#include <cstdint>\n"
              "typedef struct {\n  float scale;\n  int8_t values[32];\n} block;\n"
              "void dot(int n, float* out, const block* x, const block* y) {\n"
              "  float sum = 0;\n"
              "  for (int i = 0; i < n / 32; i++) {\n"
              "    int part = 0;\n"
              "    for (int j = 0; j < 32; j++) part += x[i].values[j] * y[i].values[j];\n"
              "    sum += (float)part * x[i].scale * y[i].scale;\n  }\n"
              "  *out = sum;\n}\n",
              "dot", sized({{"n", 4096}}));
  ASSERT_EQ(task.inputs.size(), 4U);
  EXPECT_EQ(task.inputs[0].dtype, DType::f32);
  EXPECT_EQ(task.inputs[1].dtype, DType::i8);
  EXPECT_THAT(shape_of(task.inputs[1]), ElementsAre("n/32", "32"));
}

TEST_F(OwnKinds, AListOfStructsOfSeveralKindsIsPutTogetherAndTakenApart) {
  const Task task = learned("cells.cpp",
                            "#include <vector>\n"
                            "struct Cell {\n  double mass;\n  int kind;\n};\n"
                            "void decay(std::vector<Cell>& cells, double by) {\n"
                            "  for (Cell& c : cells) c.mass *= c.kind > 0 ? by : 1.0;\n}\n",
                            "decay", sized({{"cells_size", 3000}}));
  ASSERT_EQ(task.outputs.size(), 1U);
  EXPECT_EQ(task.outputs[0].name, "cells_mass");
  EXPECT_EQ(task.inputs.size(), 2U);
}

// With factors near one it would compute infinities, and so would anything else.
TEST_F(OwnKinds, FactorsOfFeedbackAreSmall) {
  const Task task =
      learned("resonate.cpp",
              "void resonate(const float* in, float* out, float a, float b, int n) {\n"
              "  float last = 0, before = 0;\n"
              "  for (int i = 0; i < n; ++i) {\n"
              "    const float now = in[i] + a * last + b * before;\n"
              "    before = last;\n    last = now;\n    out[i] = now;\n  }\n}\n",
              "resonate");
  ASSERT_EQ(task.scalars.size(), 2U);
  EXPECT_LT(task.scalars[0].high, 0.5);
}

TEST_F(OwnKinds, TypesOfFieldsMayHaveNamesOfTheirOwn) {
  const Task task =
      learned("ell.cpp",
              "#include <cstdint>\n"
              "typedef std::int32_t id;\nusing real = double;\n"
              "struct Ell {\n  id rows;\n  id width;\n  const id* columns;\n"
              "  const real* values;\n};\n"
              "void spmv(const Ell* a, const real* x, real* y) {\n"
              "  for (id r = 0; r < a->rows; ++r) {\n"
              "    real sum = 0;\n"
              "    for (id k = 0; k < a->width; ++k)\n"
              "      sum += a->values[k * a->rows + r] * x[a->columns[k * a->rows + r]];\n"
              "    y[r] = sum;\n  }\n}\n",
              "spmv");
  ASSERT_EQ(task.inputs.size(), 3U);
  EXPECT_EQ(task.inputs[0].values.kind, ValueKind::index);
  EXPECT_EQ(task.inputs[1].dtype, DType::f64);
}

TEST_F(OwnKinds, AStaticMemberMayHaveItsBodyOutsideOfTheClass) {
  const Task task =
      learned("turn.cpp",
              "struct Turn {\n  float m[2][2];\n"
              "  static void all(const Turn& t, const float* x, float* y, int n);\n};\n"
              "void Turn::all(const Turn& t, const float* x, float* y, int n) {\n"
              "  for (int i = 0; i < n; ++i) y[i] = t.m[0][0] * x[i] + t.m[1][1];\n}\n",
              "Turn::all", sized({{"n", 3000}}));
  EXPECT_EQ(task.inputs.size(), 2U);
}

TEST_F(OwnKinds, TextsAreLettersInARow) {
  const Task task = learned("late.cpp",
                            "#include <string>\n#include <string_view>\n"
                            "long late(std::string_view text) {\n"
                            "  long count = 0;\n"
                            "  for (const char c : text) count += c > 'm';\n"
                            "  return count;\n}\n"
                            "void lower(std::string& text) {\n"
                            "  for (char& c : text)\n"
                            "    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);\n}\n",
                            "late", sized({{"text_size", 9000}}));
  ASSERT_EQ(task.inputs.size(), 1U);
  EXPECT_EQ(task.inputs[0].dtype, DType::i8);
}

TEST_F(OwnKinds, FieldsOfAStructMayBeConstants) {
  const Task task =
      learned("half.cpp",
              "struct Image {\n  const float* const data;\n  const int w;\n  const int h;\n};\n"
              "void half(const Image& in, float* out) {\n"
              "  for (int i = 0; i < in.h; ++i)\n"
              "    for (int j = 0; j < in.w; ++j)\n"
              "      out[i * in.w + j] = 0.5f * in.data[i * in.w + j];\n}\n",
              "half", sized({{"in_w", 64}, {"in_h", 64}}));
  ASSERT_EQ(task.inputs.size(), 1U);
  EXPECT_THAT(shape_of(task.inputs[0]), ElementsAre("in_h", "in_w"));
}

// Each object of the class has these fields, so no caller has another.
TEST_F(OwnKinds, FieldsThatAreAlwaysTheSameAreNoState) {
  const Task task =
      learned("taps.cpp",
              "class Taps {\n public:\n"
              "  void run(const float* x, float* y, int n) const {\n"
              "    for (int i = 0; i < n; ++i) y[i] = (w[0] * x[i] + w[1]) / (1 << shift);\n  }\n"
              " private:\n  static constexpr int kTaps = 2;\n"
              "  const float w[kTaps] = {1, 3};\n  const int shift = 2;\n};\n",
              "Taps::run", sized({{"n", 3000}}));
  EXPECT_EQ(task.inputs.size(), 1U);
}

}  // namespace
}  // namespace kernelpro
