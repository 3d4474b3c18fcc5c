// Functions on lists that tell of each other: offsets of rows, places in other lists.
#include <gmock/gmock.h>

#include <string>

#include "own/learned.hpp"

namespace kernelpro {
namespace {

using namespace own_tests;

using ::testing::ElementsAre;

class OwnLists : public LearnedTask {};

// The number of rows is no list's size, and three lists are as long as others say.
TEST_F(OwnLists, AMatrixOfRowsInAStruct) {
  const Task task = learned(
      "rows.cpp",
      "#include <vector>\n"
      "struct Csr { int rows; std::vector<int> ptr; std::vector<int> col; std::vector<double> val; "
      "};\n"
      "void spmv(const Csr& A, const std::vector<double>& x, std::vector<double>& y) {\n"
      "  for (int i = 0; i < A.rows; ++i) {\n"
      "    double s = 0;\n"
      "    for (int k = A.ptr[i]; k < A.ptr[i + 1]; ++k) s += A.val[k] * x[A.col[k]];\n"
      "    y[i] = s;\n  }\n}\n",
      "spmv", sized({{"A_rows", 3000}, {"x_size", 3000}}));
  EXPECT_THAT(shape_of(tensor(task, "A_ptr")), ElementsAre("A_rows + 1"));
  EXPECT_EQ(shape_of(tensor(task, "A_col")), shape_of(tensor(task, "A_val")));
  EXPECT_THAT(shape_of(tensor(task, "x")), ElementsAre("x_size"));
  EXPECT_THAT(shape_of(tensor(task, "y")), ElementsAre("A_rows"));
}

TEST_F(OwnLists, RowsCountedByTheirOffsets) {
  const Task task =
      learned("offsets.cpp",
              "#include <vector>\n"
              "void sums(const std::vector<int>& ptr, const std::vector<float>& val,\n"
              "          std::vector<float>& y) {\n"
              "  for (std::size_t i = 0; i + 1 < ptr.size(); ++i) {\n"
              "    float s = 0;\n"
              "    for (int k = ptr[i]; k < ptr[i + 1]; ++k) s += val[k];\n"
              "    y[i] = s;\n  }\n}\n",
              "sums", sized({{"ptr_size", 3000}}));
  EXPECT_THAT(shape_of(tensor(task, "ptr")), ElementsAre("ptr_size"));
  EXPECT_THAT(shape_of(tensor(task, "y")), ElementsAre("ptr_size - 1"));
}

// With numbers at random a place lies before the list, and with zeros there is nothing to do.
TEST_F(OwnLists, RowsThatAreAddedTo) {
  const Task task =
      learned("added.cpp",
              "#include <span>\n"
              "void spmm(std::span<const int> ptr, std::span<const int> col,\n"
              "          std::span<const float> val, const float* b, float* c, int rows, int k) {\n"
              "  for (int i = 0; i < rows; ++i)\n"
              "    for (int p = ptr[i]; p < ptr[i + 1]; ++p)\n"
              "      for (int j = 0; j < k; ++j) c[i * k + j] += val[p] * b[col[p] * k + j];\n}\n",
              "spmm", sized({{"rows", 300}, {"k", 40}, {"b_rows", 300}}));
  EXPECT_THAT(shape_of(tensor(task, "ptr")), ElementsAre("rows + 1"));
  EXPECT_THAT(shape_of(tensor(task, "b")), ElementsAre("b_rows", "k"));
}

TEST_F(OwnLists, OnePlaceInTwoTables) {
  const Task pointers =
      learned("tables.cpp",
              "void look(int n, const int* at, const float* a, const float* b, float* out) {\n"
              "  for (int i = 0; i < n; ++i) out[i] = a[at[i]] * b[at[i]];\n}\n",
              "look", sized({{"n", 3000}, {"a_rows", 3000}}));
  EXPECT_THAT(shape_of(tensor(pointers, "a")), ElementsAre("a_rows"));
  EXPECT_THAT(shape_of(tensor(pointers, "b")), ElementsAre("a_rows"));
  const Task lists =
      learned("both.cpp",
              "#include <vector>\n"
              "void look(const std::vector<int>& at, const std::vector<float>& a,\n"
              "          const std::vector<float>& b, std::vector<float>& out) {\n"
              "  for (std::size_t i = 0; i < at.size(); ++i) out[i] = a[at[i]] * b[at[i]];\n}\n",
              "look", sized({{"at_size", 3000}, {"a_size", 3000}}));
  EXPECT_THAT(shape_of(tensor(lists, "a")), ElementsAre("a_size"));
  EXPECT_THAT(shape_of(tensor(lists, "b")), ElementsAre("a_size"));
  EXPECT_THAT(shape_of(tensor(lists, "out")), ElementsAre("at_size"));
}

// Of two tables the one whose length the function asks for says how far places go.
TEST_F(OwnLists, PlacesStayBelowTheSizeThatIsAskedFor) {
  const Task task =
      learned("graph.cpp",
              "#include <vector>\n"
              "void step(const std::vector<long>& offsets, const std::vector<int>& targets,\n"
              "          const std::vector<double>& rank, const std::vector<double>& degree,\n"
              "          std::vector<double>& next) {\n"
              "  for (std::size_t v = 0; v < rank.size(); ++v) {\n"
              "    double sum = 0;\n"
              "    for (long e = offsets[v]; e < offsets[v + 1]; ++e)\n"
              "      sum += rank[targets[e]] * degree[targets[e]];\n"
              "    next[v] = sum;\n  }\n}\n",
              "step", sized({{"rank_size", 3000}}));
  EXPECT_THAT(shape_of(tensor(task, "offsets")), ElementsAre("rank_size + 1"));
  EXPECT_THAT(shape_of(tensor(task, "degree")), ElementsAre("rank_size"));
  EXPECT_THAT(shape_of(tensor(task, "next")), ElementsAre("rank_size"));
}

}  // namespace
}  // namespace kernelpro
