#include "coordinator/task/array_content.hpp"

#include <gmock/gmock.h>

#include <cstring>

namespace kernelpro {
namespace {

std::vector<std::int32_t> whole_numbers(const std::optional<std::string>& content) {
  std::vector<std::int32_t> numbers(content ? content->size() / sizeof(std::int32_t) : 0);
  if (!numbers.empty()) {
    std::memcpy(numbers.data(), content->data(), content->size());
  }
  return numbers;
}

TensorSpec tensor(const std::string& name, ValueKind kind, const std::string& bound) {
  TensorSpec spec;
  spec.name = name;
  spec.dtype = DType::i32;
  spec.values.kind = kind;
  spec.values.bound = *Formula::parse(bound);
  return spec;
}

TEST(ArrayContent, OfSparseRowsIsOne) {
  ArrayContent content(3);
  const Axes axes = {{"rows", 5}, {"cols", 6}, {"nnz", 20}};
  const auto rows = whole_numbers(content.draw(tensor("ptr", ValueKind::offsets, "nnz"), 6, axes));
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows.front(), 0);
  EXPECT_EQ(rows.back(), 20);
  TensorSpec spec = tensor("col", ValueKind::csr_columns, "cols");
  spec.values.rows_of = "ptr";
  const auto columns = whole_numbers(content.draw(spec, 20, axes));
  ASSERT_EQ(columns.size(), 20U);
  for (std::size_t row = 0; row + 1 < rows.size(); ++row) {
    ASSERT_LE(rows[row], rows[row + 1]);
    const bool distinct = rows[row + 1] - rows[row] <= 6;
    for (int k = rows[row]; k < rows[row + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      EXPECT_GE(columns[at], 0);
      EXPECT_LT(columns[at], 6);
      if (k > rows[row]) {
        EXPECT_LE(columns[at - 1] + (distinct ? 1 : 0), columns[at]);
      }
    }
  }
}

TEST(ArrayContent, IsNoneWhereAnIndexLeadsNowhere) {
  ArrayContent content(3);
  const TensorSpec spec = tensor("ids", ValueKind::index, "n");
  EXPECT_FALSE(content.draw(spec, 4, {{"n", 0}}).has_value());
  EXPECT_EQ(content.draw(spec, 0, {{"n", 0}}), "");
  TensorSpec offsets = tensor("ptr", ValueKind::offsets, "n");
  EXPECT_FALSE(content.draw(offsets, 1, {{"n", 2}}).has_value());
}

TEST(ArrayContent, IsTheSameForTheSameSeed) {
  TensorSpec spec = tensor("x", ValueKind::normal, "0");
  spec.dtype = DType::f32;
  ArrayContent one(5);
  ArrayContent other(5);
  const auto drawn = one.draw(spec, 100, {});
  EXPECT_EQ(drawn, other.draw(spec, 100, {}));
  EXPECT_EQ(drawn, one.draw(spec, 100, {}));
  EXPECT_NE(drawn, ArrayContent(6).draw(spec, 100, {}));
}

}  // namespace
}  // namespace kernelpro
