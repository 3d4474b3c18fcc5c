#include "worker/host/operands_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "common/base/text.hpp"

namespace kernelpro {

namespace {

constexpr std::string_view spaces = " \t";

// Commas inside brackets belong to an operand.
std::vector<std::string> operands_of(std::string_view text) {
  std::vector<std::string> out;
  int depth = 0;
  std::string one;
  for (const char c : text) {
    depth += c == '(' || c == '[' || c == '{' ? 1 : 0;
    depth -= c == ')' || c == ']' || c == '}' ? 1 : 0;
    if (c == ',' && depth <= 0) {
      out.emplace_back(trimmed(one, spaces));
      one.clear();
    } else {
      one += c;
    }
  }
  if (const std::string_view last = trimmed(one, spaces); !last.empty()) {
    out.emplace_back(last);
  }
  return out;
}

bool is_prefix(std::string_view word) {
  static constexpr std::array<std::string_view, 12> prefixes = {
      "lock", "rep",     "repz",   "repnz", "repe", "repne",
      "bnd",  "notrack", "data16", "cs",    "ds",   "es"};
  return std::find(prefixes.begin(), prefixes.end(), word) != prefixes.end();
}

}  // namespace

std::int64_t parse_address(std::string_view text) {
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
  }
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && !text.empty() ? value
                                                                                          : -1;
}

AssemblerLine split_assembler(std::string_view text, bool arm) {
  AssemblerLine out;
  text = text.substr(0, text.find(arm ? "//" : "#"));
  if (const std::size_t open = text.find('<'); open != std::string_view::npos) {
    const std::size_t close = text.rfind('>');
    if (close != std::string_view::npos && close > open) {
      out.symbol = text.substr(open + 1, close - open - 1);
    }
    text = text.substr(0, open);
  }
  text = trimmed(text, spaces);
  out.text = text;
  for (;;) {
    const std::size_t end = std::min(text.find_first_of(spaces), text.size());
    const std::string_view word = text.substr(0, end);
    text = trimmed(text.substr(end), spaces);
    if (!is_prefix(word) || text.empty()) {
      out.mnemonic = word;
      break;
    }
  }
  out.operands = operands_of(text);
  return out;
}

}  // namespace kernelpro
