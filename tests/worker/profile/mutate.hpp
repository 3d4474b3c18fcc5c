// Damages a text as a broken pipe, a full disk or a hostile program would.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/random.hpp"

namespace kernelpro {

inline std::string mutate(std::string text, Random& random) {
  using namespace std::literals;
  constexpr std::string_view odd = "\"\",\n\r\0=.-09xe\xff"sv;
  const std::size_t changes = 1 + random.below(8);
  for (std::size_t i = 0; i < changes && !text.empty(); ++i) {
    const std::size_t at = random.below(text.size());
    const std::size_t length = random.below(200);
    switch (random.below(6)) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(random.below(text.size()), length));
        break;
      case 3:
        text[at] = static_cast<char>(random.below(256));
        break;
      default:
        text.insert(at, 1, odd[random.below(odd.size())]);
        break;
    }
  }
  return text;
}

}  // namespace kernelpro
