#include "common/base/printable.hpp"

#include <algorithm>

namespace kernelpro {

std::string printable_lines(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool c1 =
        byte == 0xC2U && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0U;
    if (text[i] == '\r') {
      out += ' ';
    } else if (text[i] != '\t' && text[i] != '\n' && (byte < 0x20U || byte == 0x7FU || c1)) {
      out += '?';
      i += c1 ? 1 : 0;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string printable(const std::string& text) {
  std::string out = printable_lines(text);
  std::replace_if(out.begin(), out.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
  return out;
}

}  // namespace kernelpro
