#include "coordinator/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace kernelpro {

namespace {

bool looks_numeric(const std::string& text) {
  return text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) != 0 ||
         text.front() == '-' || text == "–";
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string space(width - display_width(text), ' ');
  return right ? space + text : text + space;
}

}  // namespace

std::size_t display_width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  }));
}

std::string Table::text() const {
  const std::size_t columns = rows_.front().size();
  std::vector<std::size_t> widths(columns, 0);
  std::vector<bool> numeric(columns, rows_.size() > 1);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      widths[c] = std::max(widths[c], display_width(rows_[r][c]));
      numeric[c] = numeric[c] && (r == 0 || looks_numeric(rows_[r][c]));
    }
  }
  std::string out;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) {
      line += (c == 0 ? "" : "  ") + padded(rows_[r][c], widths[c], numeric[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
    if (r == 0) {
      std::size_t total = 2 * (columns - 1);
      for (const std::size_t width : widths) {
        total += width;
      }
      out += std::string(total, '-') + "\n";
    }
  }
  return out;
}

std::string duration_text(double nanoseconds) {
  if (nanoseconds < 1e3) {
    return fmt::format("{:.0f} ns", nanoseconds);
  }
  if (nanoseconds < 1e6) {
    return fmt::format("{:.3g} µs", nanoseconds / 1e3);
  }
  if (nanoseconds < 1e9) {
    return fmt::format("{:.3g} ms", nanoseconds / 1e6);
  }
  return fmt::format("{:.3g} s", nanoseconds / 1e9);
}

}  // namespace kernelpro
