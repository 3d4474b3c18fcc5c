#include "coordinator/html/markup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace kernelpro::html {

namespace {

constexpr std::string_view unreadable = "\xEF\xBF\xBD";  // U+FFFD

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  // 0: no UTF-8
};

std::size_t length_of(unsigned char first) {
  if (first < 0x80U) {
    return 1;
  }
  if (first >= 0xC2U && first < 0xE0U) {
    return 2;
  }
  if (first >= 0xE0U && first < 0xF0U) {
    return 3;
  }
  return first >= 0xF0U && first < 0xF5U ? 4 : 0;
}

// The smallest value that needs so many bytes: a smaller one in as many is no UTF-8.
constexpr std::uint32_t least_of_length[] = {0, 0, 0x80, 0x800, 0x10000};

CodePoint read_code_point(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t bytes = length_of(first);
  if (bytes == 0 || bytes > text.size()) {
    return {};
  }
  std::uint32_t value = bytes == 1 ? first : first & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80U) {
      return {};
    }
    value = (value << 6U) | (byte & 0x3FU);
  }
  const bool surrogate = value >= 0xD800U && value < 0xE000U;
  const bool valid = value >= least_of_length[bytes] && value <= 0x10FFFFU && !surrogate;
  return valid ? CodePoint{value, bytes} : CodePoint{};
}

bool is_control(std::uint32_t value) {
  return (value < 0x20U && value != '\n' && value != '\t') || (value >= 0x7FU && value < 0xA0U);
}

// Marks that turn the direction of text or take no room: with them a source shows other code than
// it has.
bool is_invisible(std::uint32_t value) {
  return (value >= 0x200BU && value <= 0x200FU) || (value >= 0x2028U && value <= 0x202EU) ||
         (value >= 0x2060U && value <= 0x206FU) || value == 0xFEFFU || value == 0xADU ||
         value == 0x61CU;
}

std::string_view entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return "";
  }
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = read_code_point(text);
    const std::string_view known = entity(text.front());
    if (point.bytes == 0 || is_control(point.value)) {
      out += unreadable;
    } else if (is_invisible(point.value)) {
      out += fmt::format("[U+{:04X}]", point.value);
    } else if (!known.empty()) {
      out += known;
    } else {
      out += text.substr(0, point.bytes);
    }
    text.remove_prefix(std::max<std::size_t>(point.bytes, 1));
  }
  return out;
}

Markup element(std::string_view name, const Attributes& attributes, const Markup& inner) {
  std::string out = "<" + std::string(name);
  for (const auto& [key, value] : attributes) {
    out += " ";
    out += key;
    out += "=\"" + escaped(value) + "\"";
  }
  out += ">" + inner.str() + "</" + std::string(name) + ">";
  return Markup(std::move(out));
}

Markup element(std::string_view name, const Attributes& attributes, std::string_view text) {
  return element(name, attributes, Markup::text(text));
}

Markup classed(std::string_view name, const std::string& kind, std::string_view text) {
  return element(name, {{"class", kind}}, text);
}

}  // namespace kernelpro::html
