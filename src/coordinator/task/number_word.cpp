#include "coordinator/task/number_word.hpp"

#include <map>

namespace kernelpro {

std::optional<NumberWord> number_word(const std::string& text) {
  static const std::map<std::string, NumberWord> numbers = {
      {"float", {DType::f32}},
      {"double", {DType::f64}},
      {"int", {DType::i32}},
      {"unsigned int", {DType::i32, true}},
      {"unsigned", {DType::i32, true}},
      {"long", {DType::i64}},
      {"unsigned long", {DType::i64, true}},
      {"long long", {DType::i64}},
      {"unsigned long long", {DType::i64, true}},
      {"short", {DType::i16}},
      {"unsigned short", {DType::i16, true}},
      {"signed char", {DType::i8}},
      {"char", {DType::i8}},
      {"unsigned char", {DType::u8}},
      {"int8_t", {DType::i8}},
      {"uint8_t", {DType::u8}},
      {"int16_t", {DType::i16}},
      {"uint16_t", {DType::i16, true}},
      {"int32_t", {DType::i32}},
      {"uint32_t", {DType::i32, true}},
      {"int64_t", {DType::i64}},
      {"uint64_t", {DType::i64, true}},
      {"size_t", {DType::i64, true}},
      {"ptrdiff_t", {DType::i64}},
  };
  const std::string plain = text.starts_with("std::") ? text.substr(5) : text;
  const auto found = numbers.find(plain);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace kernelpro
