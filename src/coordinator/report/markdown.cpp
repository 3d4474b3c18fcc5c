#include "coordinator/report/markdown.hpp"

#include <algorithm>

namespace kernelpro {

namespace {

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (std::string text : cells) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) {
      text.insert(at, "\\");
    }
    out += " " + text + " |";
  }
  return out + "\n";
}

}  // namespace

std::string markdown_table(const std::vector<std::string>& header,
                           const std::vector<std::vector<std::string>>& rows) {
  std::string out = markdown_row(header) + "|";
  for (std::size_t i = 0; i < header.size(); ++i) {
    out += "---|";
  }
  out += "\n";
  for (const std::vector<std::string>& row : rows) {
    out += markdown_row(row);
  }
  return out;
}

}  // namespace kernelpro
