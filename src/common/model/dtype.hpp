// Element types of tensors.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kernelpro {

enum class DType { f64, f32, f16, bf16, i64, i32, i16, i8, u8 };

[[nodiscard]] std::size_t size_of(DType dtype);
[[nodiscard]] bool is_floating(DType dtype);
// 2^-p, p the significand's bits: the largest relative error of one rounding. 0 for integers.
[[nodiscard]] double unit_roundoff(DType dtype);
// How many terms of a sum its bounds allow for: 65536 at most. Longer sums round far less in fact,
// and a bound that went on growing would admit the sum of every other term, which chance puts as
// near to the whole.
[[nodiscard]] double counted_terms(double terms);
// What rounding comes to in a sum of so many terms that is stored as this type: u sqrt(counted).
// Types shorter than a float are summed as floats and rounded once.
[[nodiscard]] double rounding_of_sum(DType dtype, double terms);
// The same where all terms are equal and so are the errors of their partial sums: u terms.
[[nodiscard]] double rounding_of_equal_terms(DType dtype, double terms);
[[nodiscard]] std::string_view name_of(DType dtype);
// The C++ type a candidate sees ("float", "std::int32_t"); 16-bit floats are std::uint16_t bits.
[[nodiscard]] std::string_view cpp_type(DType dtype);
[[nodiscard]] std::optional<DType> parse_dtype(std::string_view name);
[[nodiscard]] std::string known_dtypes();

}  // namespace kernelpro
