// Numbers as messages show them: "12.5", "-94", "2.5e+09".
#pragma once

#include <array>
#include <cstdio>
#include <string>

namespace kernelpro {

inline std::string number_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

}  // namespace kernelpro
