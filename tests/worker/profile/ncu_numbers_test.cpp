#include "worker/profile/ncu_numbers.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <string>

#include "worker/profile/mutate.hpp"

namespace kernelpro {
namespace {

using testing::Optional;

std::optional<double> number(std::string_view text, Notation notation = Notation::point) {
  const Cell cell = read_cell(text, notation);
  return cell.kind == CellKind::number ? std::optional(cell.value) : std::nullopt;
}

TEST(NcuNumbers, AreReadWithAndWithoutGroups) {
  EXPECT_THAT(number("0"), Optional(0.0));
  EXPECT_THAT(number("101,580,800"), Optional(101580800.0));
  EXPECT_THAT(number("2,708,623,829,512.43"), Optional(2708623829512.43));
  EXPECT_THAT(number("124.12"), Optional(124.12));
  EXPECT_THAT(number("-0.000477"), Optional(-0.000477));
  EXPECT_THAT(number("1.5e+06"), Optional(1.5e6));
  EXPECT_THAT(number(" 12 "), Optional(12.0));
  EXPECT_THAT(number("1'234.5"), Optional(1234.5));
}

TEST(NcuNumbers, AreReadInTheNotationOfOtherLocales) {
  EXPECT_THAT(number("1.234,56", Notation::comma), Optional(1234.56));
  EXPECT_THAT(number("1 234,56", Notation::comma), Optional(1234.56));
  EXPECT_THAT(number("1\u00a0234\u00a0567", Notation::comma), Optional(1234567.0));
  EXPECT_THAT(number("1\u202f234,5", Notation::comma), Optional(1234.5));
  EXPECT_THAT(number("1.234", Notation::comma), Optional(1234.0));
  EXPECT_THAT(number("0,18", Notation::comma), Optional(0.18));
}

TEST(NcuNumbers, DigitsThatMakeNoNumberAreNotGuessed) {
  for (const char* text : {"1.234,56", "12,34", "1,2345", "1234,567", "1,,234", "1.2.3",
                           "1 234,567", "12 34", "1e999"}) {
    EXPECT_EQ(read_cell(text, Notation::point).kind, CellKind::unreadable) << text;
  }
  for (const char* text : {"1,234.56", "0.18", "1,2,3", "12.34"}) {
    EXPECT_EQ(read_cell(text, Notation::comma).kind, CellKind::unreadable) << text;
  }
}

TEST(NcuNumbers, WhatIsNoNumberIsNeverZero) {
  EXPECT_EQ(read_cell("", Notation::point).kind, CellKind::empty);
  EXPECT_EQ(read_cell("  ", Notation::point).kind, CellKind::empty);
  for (const char* text : {"n/a", "N/A", "no data", "(!) n/a", "(!) 12.5", "-"}) {
    EXPECT_EQ(read_cell(text, Notation::point).kind, CellKind::unavailable) << text;
  }
  for (const char* text : {"nan", "-nan", "inf", "-inf", "NaN"}) {
    EXPECT_EQ(read_cell(text, Notation::point).kind, CellKind::not_finite) << text;
  }
  for (const char* text :
       {"PolicySpread", "(256, 1, 1)", "0x1f", "12 apples", "5%", "+", "1e", "."}) {
    EXPECT_EQ(read_cell(text, Notation::point).kind, CellKind::text) << text;
  }
}

TEST(NcuNumbers, ShowTheirNotationWhereTheyCan) {
  for (const char* text :
       {"1,234.5", "1,234,567", "0.5", "0.180", "12.345678", "1234.567", "1.5"}) {
    EXPECT_THAT(notation_of(text, false), Optional(Notation::point)) << text;
  }
  for (const char* text : {"1.234,5", "1.234.567", "0,5", "12,3456", "1 234,5", "1234,567"}) {
    EXPECT_THAT(notation_of(text, false), Optional(Notation::comma)) << text;
  }
  for (const char* text : {"1234", "1,234", "1.234", "", "n/a", "1,23,4", "a.b", "(1, 2.5)"}) {
    EXPECT_EQ(notation_of(text, false), std::nullopt) << text;
  }
}

TEST(NcuNumbers, ACountShowsItsNotationByItsGroups) {
  EXPECT_THAT(notation_of("1,024", true), Optional(Notation::point));
  EXPECT_THAT(notation_of("1.024", true), Optional(Notation::comma));
  EXPECT_EQ(notation_of("1024", true), std::nullopt);
}

TEST(NcuUnits, LoseTheirPrefixes) {
  const auto expect = [](const char* unit, const char* name, double scale) {
    const Unit base = base_unit(unit);
    EXPECT_EQ(base.name, name) << unit;
    EXPECT_NEAR(base.scale / scale, 1, 1e-12) << unit;
  };
  expect("byte", "byte", 1);
  expect("Kbyte", "byte", 1e3);
  expect("Mbyte", "byte", 1e6);
  expect("Gbyte", "byte", 1e9);
  expect("Tbyte/s", "byte/s", 1e12);
  expect("Gbyte/second", "byte/s", 1e9);
  expect("Kbyte/block", "byte/block", 1e3);
  expect("%/Kbyte", "%/byte", 1e-3);
  expect("ns", "ns", 1);
  expect("us", "ns", 1e3);
  expect("ms", "ns", 1e6);
  expect("s", "ns", 1e9);
  expect("usecond", "ns", 1e3);
  expect("Ghz", "hz", 1e9);
  expect("sector/ns", "sector/s", 1e9);
  expect("inst/cycle", "inst/cycle", 1);
  expect("register/thread", "register/thread", 1);
  expect("%", "%", 1);
  expect("", "", 1);
}

TEST(NcuUnits, ThatAreNotKnownStayAsTheyAre) {
  for (const char* unit : {"SM", "Mountain", "KB", "furlong/fortnight", "/", "K"}) {
    EXPECT_EQ(base_unit(unit).name, unit);
    EXPECT_EQ(base_unit(unit).scale, 1) << unit;
  }
}

TEST(NcuNumbers, AnyTextIsANumberOrAReason) {
  Random random(2);
  for (int i = 0; i < 50'000; ++i) {
    const std::string text = mutate("-1 234,567.89e+03", random);
    for (const Notation notation : {Notation::point, Notation::comma}) {
      const Cell cell = read_cell(text, notation);
      ASSERT_TRUE(std::isfinite(cell.value)) << text;
      ASSERT_TRUE(cell.kind == CellKind::number || cell.value == 0) << text;
    }
    (void)notation_of(text, i % 2 == 0);
    ASSERT_TRUE(std::isfinite(base_unit(text).scale));
  }
}

}  // namespace
}  // namespace kernelpro
