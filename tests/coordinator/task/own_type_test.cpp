#include "coordinator/task/own_type.hpp"

#include <gmock/gmock.h>

#include <map>
#include <string>

namespace kernelpro {
namespace {

using Kind = OwnType::Kind;

// Types as a compiler spells them, beside these structs.
OwnType type_of(const std::string& text, bool many = false) {
  static const std::map<std::string, RecordFields> records = {
      {"Vec3", {{"x", "float"}, {"y", "float"}, {"z", "float"}}},
      {"Ray", {{"from", "Vec3"}, {"to", "Vec3"}}},
      {"Mat4", {{"m", "float[4][4]"}}},
      {"Descriptor", {{"bits", "unsigned long[4]"}}},
      {"Mixed", {{"scale", "float"}, {"values", "signed char[32]"}}},
      {"Switch", {{"level", "unsigned char"}, {"mode", "app::Mode"}}},
      {"Endless", {{"next", "Endless"}}},
  };
  const RecordLookup lookup = [](const std::string& name) {
    const auto found = records.find(name);
    return found == records.end() ? std::nullopt : std::optional(found->second);
  };
  const EnumLookup enums = [](const std::string& name) {
    const OwnEnum mode{"unsigned char", {{"off", 0}, {"on", 1}}};
    return name == "app::Mode" ? std::optional(mode) : std::nullopt;
  };
  return parse_own_type(text, lookup, many, enums);
}

TEST(OwnType, ElementsAreStructsOfStructsAndOfArrays) {
  const OwnType rays = type_of("Ray const*");
  EXPECT_EQ(rays.kind, Kind::tensor);
  EXPECT_EQ(rays.element.lanes, 6);
  EXPECT_TRUE(rays.element.record);
  EXPECT_EQ(type_of("Mat4*").element.lanes, 16);
  const OwnType words = type_of("std::vector<Descriptor, std::allocator<Descriptor> > const&");
  EXPECT_EQ(words.kind, Kind::list);
  EXPECT_EQ(words.element.lanes, 4);
  EXPECT_EQ(words.element.dtype, DType::i64);
  EXPECT_TRUE(words.element.is_unsigned);
}

TEST(OwnType, ElementsAreNumbersOfOneKind) {
  EXPECT_NE(type_of("Mixed const*").kind, Kind::tensor);
  EXPECT_EQ(type_of("Endless*").kind, Kind::unknown);
}

TEST(OwnType, StructsOfSeveralKindsOfNumbersHaveParts) {
  const OwnType blocks = type_of("Mixed const*", true);
  ASSERT_EQ(blocks.kind, Kind::tensor);
  ASSERT_EQ(blocks.parts.size(), 2U);
  EXPECT_EQ(blocks.parts[0].path, ".scale");
  EXPECT_EQ(blocks.parts[0].element.dtype, DType::f32);
  EXPECT_EQ(blocks.parts[1].element.lanes, 32);
  const OwnType list = type_of("std::vector<Mixed, std::allocator<Mixed> >&");
  EXPECT_EQ(list.kind, Kind::list);
  EXPECT_EQ(list.parts.size(), 2U);
  EXPECT_EQ(list.container, "std::vector<Mixed>");
}

TEST(OwnType, AnEnumIsANumberOfItsUnderlyingType) {
  const OwnType mode = type_of("app::Mode");
  EXPECT_EQ(mode.kind, Kind::whole);
  EXPECT_EQ(mode.element.dtype, DType::u8);
  EXPECT_EQ(mode.element.text, "app::Mode");
  EXPECT_EQ(mode.element.enumerators.size(), 2U);
  EXPECT_EQ(type_of("app::Mode const*").kind, Kind::tensor);
  const OwnType switches = type_of("Switch const*", true);
  EXPECT_EQ(switches.parts.size(), 2U) << "bytes and an enum of bytes have different numbers";
}

TEST(OwnType, ArraysHaveAsManyBoundsAsTheyLike) {
  const OwnType matrices = type_of("float const (*) [3][4]");
  EXPECT_EQ(matrices.kind, Kind::tensor);
  EXPECT_EQ(matrices.element.lanes, 12);
  EXPECT_EQ(matrices.element.text, "float[3][4]");
  EXPECT_TRUE(matrices.constant);
  const OwnType one = type_of("Mat4 const&");
  ASSERT_EQ(one.kind, Kind::record);
  ASSERT_EQ(one.fields.size(), 1U);
  EXPECT_EQ(one.fields[0].type.kind, Kind::fixed);
  EXPECT_EQ(one.fields[0].type.count, 16);
}

TEST(OwnType, TextIsAListOrAViewOfLetters) {
  const OwnType view = type_of("std::basic_string_view<char, std::char_traits<char> >");
  EXPECT_EQ(view.kind, Kind::view);
  EXPECT_EQ(view.container, "std::string_view");
  EXPECT_TRUE(view.constant);
  const OwnType text =
      type_of("std::basic_string<char, std::char_traits<char>, std::allocator<char> >&");
  EXPECT_EQ(text.kind, Kind::list);
  EXPECT_EQ(text.container, "std::string");
  EXPECT_FALSE(text.constant);
  EXPECT_EQ(type_of("std::string const&").kind, Kind::list);
  EXPECT_EQ(type_of("std::basic_string_view<wchar_t, std::char_traits<wchar_t> >").kind,
            Kind::unknown);
}

TEST(OwnType, ListsAndViewsKeepTheirNames) {
  EXPECT_EQ(type_of("std::vector<float, std::allocator<float> >&").container, "std::vector<float>");
  EXPECT_EQ(type_of("std::span<float const, 18446744073709551615ul>").container,
            "std::span<const float>");
}

}  // namespace
}  // namespace kernelpro
