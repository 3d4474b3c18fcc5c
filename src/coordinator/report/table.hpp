// Plain-text tables with aligned columns.
#pragma once

#include <string>
#include <vector>

namespace kernelpro {

inline constexpr const char* no_value = "–";  // in its cell

class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // Columns two spaces apart, a rule under the header; columns of numbers are set to the right.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// How many columns `text` takes on a terminal, for UTF-8 without wide characters.
[[nodiscard]] std::size_t display_width(const std::string& text);

// 1234567 ns as "1.235 ms"; three significant digits and a unit that fits.
[[nodiscard]] std::string duration_text(double nanoseconds);

}  // namespace kernelpro
