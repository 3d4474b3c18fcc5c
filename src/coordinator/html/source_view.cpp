#include "coordinator/html/source_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "coordinator/report/table.hpp"

namespace kernelpro::html {

namespace {

constexpr int context_lines = 3;

std::vector<std::string> lines_of_text(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

Markup row(const std::string& kind, const Markup& content) {
  return element("span", {{"class", kind.empty() ? "row" : "row " + kind}}, content);
}

// The first two lines name the files; a removed line may look like them.
const char* kind_of_diff_line(const std::string& line, std::size_t number) {
  if (number < 2 || line.starts_with("@@")) {
    return "hunk";
  }
  if (line.starts_with('+')) {
    return "added";
  }
  return line.starts_with('-') ? "removed" : "";
}

Markup numbered(int number, const std::string& text, const std::string& said) {
  Markup content = classed("span", "count", fmt::format("{:>5}  ", number)) + Markup::text(text);
  if (!said.empty()) {
    content += classed("span", "count", "   ← " + said);
  }
  return content;
}

}  // namespace

Markup diff_view(const std::string& diff) {
  Markup rows;
  const std::vector<std::string> lines = lines_of_text(diff);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    rows += row(kind_of_diff_line(lines[i], i), Markup::text(lines[i].empty() ? " " : lines[i]));
  }
  return element("pre", {{"class", "diff"}}, rows);
}

Markup marked_lines(const std::string& source, const std::map<int, std::string>& marks) {
  const std::vector<std::string> lines = lines_of_text(source);
  const int count = static_cast<int>(lines.size());
  Markup rows;
  int shown = 0;  // the last line that was
  for (const auto& [marked, said] : marks) {
    if (marked < 1 || marked > count) {
      continue;
    }
    const int begin = std::max(marked - context_lines, shown + 1);
    if (shown > 0 && begin > shown + 1) {
      rows += row("hunk", Markup::text("    …"));
    }
    for (int i = begin; i <= std::min(marked + context_lines, count); ++i) {
      const auto mark = marks.find(i);
      const bool is_marked = mark != marks.end();
      rows += row(is_marked ? "marked" : "", numbered(i, lines[static_cast<std::size_t>(i - 1)],
                                                      is_marked ? mark->second : ""));
      shown = i;
    }
  }
  return rows.empty() ? Markup() : element("pre", {{"class", "source"}}, rows);
}

Markup known_lines(const std::vector<KnownLine>& lines) {
  std::size_t width = 0;
  for (const KnownLine& line : lines) {
    width = std::max(width, display_width(line.place));
  }
  Markup rows;
  for (const KnownLine& line : lines) {
    const std::string gap(width - display_width(line.place) + 2, ' ');
    Markup content = classed("span", "count", line.place + gap) + Markup::text(line.text);
    if (!line.said.empty()) {
      content += classed("span", "count", "   ← " + line.said);
    }
    rows += row(line.marked ? "marked" : "", content);
  }
  return rows.empty() ? Markup() : element("pre", {{"class", "source"}}, rows);
}

}  // namespace kernelpro::html
