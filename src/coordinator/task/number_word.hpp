// The types of numbers as a compiler spells them.
#pragma once

#include <optional>
#include <string>

#include "common/model/dtype.hpp"

namespace kernelpro {

struct NumberWord {
  DType dtype;
  bool is_unsigned = false;  // travels as signed of its width
};

// Of "unsigned int", "std::int16_t"; nothing where it is no such type.
[[nodiscard]] std::optional<NumberWord> number_word(const std::string& text);

}  // namespace kernelpro
