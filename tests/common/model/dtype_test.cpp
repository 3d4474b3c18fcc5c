#include "common/model/dtype.hpp"

#include <gtest/gtest.h>

#include <cfloat>

namespace kernelpro {
namespace {

constexpr DType all[] = {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64,
                         DType::i32, DType::i16, DType::i8,  DType::u8};

TEST(DTypeTest, NamesAreReadBack) {
  for (const DType dtype : all) {
    EXPECT_EQ(parse_dtype(name_of(dtype)), dtype);
  }
  EXPECT_EQ(known_dtypes(), "f64, f32, f16, bf16, i64, i32, i16, i8, u8");
}

TEST(DTypeTest, OtherNamesAreNotTypes) {
  for (const char* name : {"", "F32", "f32 ", "float", "u16"}) {
    EXPECT_EQ(parse_dtype(name), std::nullopt) << name;
  }
}

TEST(DTypeTest, SizesAreThoseOfTheCppTypes) {
  EXPECT_EQ(size_of(DType::f64), sizeof(double));
  EXPECT_EQ(size_of(DType::f32), sizeof(float));
  EXPECT_EQ(size_of(DType::bf16), 2U);
  EXPECT_EQ(size_of(DType::f16), 2U);
  EXPECT_EQ(size_of(DType::i64), 8U);
  EXPECT_EQ(size_of(DType::u8), 1U);
  EXPECT_EQ(cpp_type(DType::f32), "float");
  EXPECT_EQ(cpp_type(DType::bf16), "std::uint16_t");
  EXPECT_EQ(cpp_type(DType::i8), "std::int8_t");
}

TEST(DTypeTest, RoundoffIsHalfTheGapAboveOne) {
  EXPECT_EQ(unit_roundoff(DType::f64), DBL_EPSILON / 2);
  EXPECT_EQ(unit_roundoff(DType::f32), static_cast<double>(FLT_EPSILON) / 2);
  EXPECT_EQ(unit_roundoff(DType::f16), 1.0 / 2048);
  EXPECT_EQ(unit_roundoff(DType::bf16), 1.0 / 256);
  EXPECT_EQ(unit_roundoff(DType::i32), 0);
}

TEST(DTypeTest, KnowsWhichTypesRound) {
  for (const DType dtype : all) {
    EXPECT_EQ(is_floating(dtype), name_of(dtype).find('f') != std::string_view::npos);
  }
}

}  // namespace
}  // namespace kernelpro
