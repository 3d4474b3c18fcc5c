#include "coordinator/report/markdown.hpp"

namespace kernelpro {

namespace {

// A bar inside a cell is escaped, and so are the backslashes before it, which would escape the
// escape.
std::string cell_text(const std::string& text) {
  std::string out;
  std::size_t backslashes = 0;
  for (const char c : text) {
    if (c == '|') {
      out.append(backslashes + 1, '\\');
    }
    backslashes = c == '\\' ? backslashes + 1 : 0;
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (const std::string& text : cells) {
    out += " " + cell_text(text) + " |";
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
