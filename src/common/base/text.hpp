// Parts of a text, known by their characters. ASCII alone, whatever the locale.
#pragma once

#include <string_view>

namespace kernelpro {

[[nodiscard]] constexpr bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

// A letter, a digit or an underscore: what a name in C++ is made of.
[[nodiscard]] constexpr bool is_word(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_' ||
         is_digit(letter);
}

// `text` without those of `letters` that stand at its ends. The view is into `text`.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text,
                                                 std::string_view letters = " \t\r\n") {
  const std::size_t first = text.find_first_not_of(letters);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(letters) - first + 1);
}

}  // namespace kernelpro
