#include "common/model/dtype.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace kernelpro {
namespace {

struct Entry {
  DType dtype;
  std::string_view name;
  std::string_view cpp;
  std::size_t bytes;
  double roundoff;
};

constexpr std::array<Entry, 9> dtype_entries = {{
    {DType::f64, "f64", "double", 8, 0x1p-53},
    {DType::f32, "f32", "float", 4, 0x1p-24},
    {DType::f16, "f16", "std::uint16_t", 2, 0x1p-11},
    {DType::bf16, "bf16", "std::uint16_t", 2, 0x1p-8},
    {DType::i64, "i64", "std::int64_t", 8, 0},
    {DType::i32, "i32", "std::int32_t", 4, 0},
    {DType::i16, "i16", "std::int16_t", 2, 0},
    {DType::i8, "i8", "std::int8_t", 1, 0},
    {DType::u8, "u8", "std::uint8_t", 1, 0},
}};

const Entry& entry_of(DType dtype) {
  return dtype_entries[static_cast<std::size_t>(dtype)];
}

constexpr bool in_enum_order() {
  for (std::size_t i = 0; i < dtype_entries.size(); ++i) {
    if (static_cast<std::size_t>(dtype_entries[i].dtype) != i) {
      return false;
    }
  }
  return true;
}
static_assert(in_enum_order(), "entry_of indexes the table by the enumerator");

}  // namespace

std::size_t size_of(DType dtype) {
  return entry_of(dtype).bytes;
}

bool is_floating(DType dtype) {
  return entry_of(dtype).roundoff > 0;
}

double unit_roundoff(DType dtype) {
  return entry_of(dtype).roundoff;
}

double counted_terms(double terms) {
  constexpr double most = 65536;
  return std::min(terms, most);
}

double rounding_of_sum(DType dtype, double terms) {
  return rounding_of_equal_terms(dtype, std::sqrt(counted_terms(terms)));
}

double rounding_of_equal_terms(DType dtype, double terms) {
  const double u = unit_roundoff(dtype);
  const double summed = std::min(u, unit_roundoff(DType::f32));
  return (u - summed) + summed * terms;
}

std::string_view name_of(DType dtype) {
  return entry_of(dtype).name;
}

std::string_view cpp_type(DType dtype) {
  return entry_of(dtype).cpp;
}

std::optional<DType> parse_dtype(std::string_view name) {
  const auto* found = std::find_if(dtype_entries.begin(), dtype_entries.end(),
                                   [&](const Entry& entry) { return entry.name == name; });
  return found == dtype_entries.end() ? std::nullopt : std::optional(found->dtype);
}

std::string known_dtypes() {
  std::string list;
  for (const Entry& entry : dtype_entries) {
    list += list.empty() ? "" : ", ";
    list += entry.name;
  }
  return list;
}

}  // namespace kernelpro
