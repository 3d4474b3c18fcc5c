// Names that mean the same however they are written: hosts, headers, tags.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace kernelpro {

// ASCII alone, whatever the locale.
[[nodiscard]] inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return lower;
}

}  // namespace kernelpro
