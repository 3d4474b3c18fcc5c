#include "common/base/printable.hpp"

#include <algorithm>
#include <string_view>

namespace kernelpro {

namespace {

// How many bytes of a character that a terminal obeys stand at `at`; 0: it shows what stands there.
std::size_t obeyed_bytes(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x20U || byte == 0x7FU) {
    return byte == '\t' || byte == '\n' ? 0 : 1;
  }
  const std::string_view two = text.substr(at, 2);
  if (two.size() == 2 && byte == 0xC2U && static_cast<unsigned char>(two[1]) < 0xA0U) {
    return 2;
  }
  // What turns the direction of the text around it, and ends of lines that are no ASCII.
  const std::string_view three = text.substr(at, 3);
  const bool turns = three == "\u200e" || three == "\u200f" ||
                     (three >= "\u2028" && three <= "\u202e") ||
                     (three >= "\u2066" && three <= "\u2069");
  if (turns) {
    return 3;
  }
  return two == "\u061c" ? 2 : 0;
}

}  // namespace

std::string printable_lines(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t obeyed = obeyed_bytes(text, i);
    if (obeyed > 0) {
      out += text[i] == '\r' ? ' ' : '?';
    } else {
      out += text[i];
    }
    i += std::max<std::size_t>(obeyed, 1);
  }
  return out;
}

std::string printable(const std::string& text) {
  std::string out = printable_lines(text);
  std::replace_if(out.begin(), out.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
  return out;
}

}  // namespace kernelpro
