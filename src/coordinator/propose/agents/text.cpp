#include "coordinator/propose/agents/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "common/base/text.hpp"

namespace kernelpro::agents {

std::string trimmed(const std::string& text) {
  return std::string(kernelpro::trimmed(text));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with('\r')) {
      line.pop_back();
    }
    lines.push_back(line);
  }
  return lines;
}

std::string one_line(const std::string& text) {
  std::istringstream stream(text);
  std::string out;
  for (std::string word; stream >> word;) {
    out += (out.empty() ? "" : " ") + word;
  }
  return out;
}

std::string shortened(const std::string& text, std::size_t most) {
  constexpr std::string_view mark = "…";
  if (text.size() <= most) {
    return text;
  }
  std::size_t end = most > mark.size() ? most - mark.size() : 0;
  // Bytes 10xxxxxx go on with a character.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  return text.substr(0, end) + std::string(mark);
}

std::string fenced(std::string_view language, const std::string& text) {
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string ticks(longest + 1, '`');
  const bool ended = text.empty() || text.ends_with('\n');
  return fmt::format("{}{}\n{}{}{}", ticks, language, text, ended ? "" : "\n", ticks);
}

std::string counted(std::size_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string duration_text(double nanoseconds) {
  if (!(nanoseconds > 0) || !std::isfinite(nanoseconds)) {
    return "not known";
  }
  if (nanoseconds < 1e6) {
    return fmt::format("{:.4g} us", nanoseconds / 1e3);
  }
  return nanoseconds < 1e9 ? fmt::format("{:.4g} ms", nanoseconds / 1e6)
                           : fmt::format("{:.4g} s", nanoseconds / 1e9);
}

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 5> units = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", bytes, units[unit]);
}

std::string amount_text(double value) {
  constexpr double exact = 1e6;
  return std::floor(value) == value && std::abs(value) < exact ? fmt::format("{:.0f}", value)
                                                               : fmt::format("{:.4g}", value);
}

std::string factor_text(double factor) {
  return fmt::format("{:.2f}", factor);
}

}  // namespace kernelpro::agents
