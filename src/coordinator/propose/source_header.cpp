#include "coordinator/propose/source_header.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "common/base/text.hpp"

namespace kernelpro {

namespace {

std::string without_byte_order_mark(const std::string& source) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return source.starts_with(mark) ? source.substr(mark.size()) : source;
}

// Whether the line, without blanks around it, is one about the build; it is added to the header.
bool take_wish(std::string_view line, SourceHeader& header) {
  if (!line.starts_with("//")) {
    return false;
  }
  std::istringstream words{std::string(line.substr(2))};
  std::string key;
  words >> key;
  if (key == "kp:compiler") {
    words >> header.compiler;
    return true;
  }
  if (key != "kp:options") {
    return false;
  }
  header.names_options = true;
  for (std::string option; words >> option && !option.starts_with("//");) {
    header.options.push_back(option);
  }
  return true;
}

// Which lines may stand before the first line of code.
class LeadingLines {
 public:
  // To be asked for one line after the other, each without blanks around it.
  bool goes_on(std::string_view line) {
    if (in_comment_) {
      return leave_comment(line);
    }
    if (continued_ || line.starts_with('#') || line.starts_with("//")) {
      continued_ = line.ends_with('\\');
      return true;
    }
    return line.starts_with("/*") ? leave_comment(line.substr(2)) : line.empty();
  }
  // Whether the next line is part of what an earlier one began: a comment, a macro.
  [[nodiscard]] bool go_on_inside() const { return in_comment_ || continued_; }

 private:
  bool leave_comment(std::string_view line) {
    const std::size_t end = line.find("*/");
    in_comment_ = end == std::string_view::npos;
    return in_comment_ || trimmed(line.substr(end + 2)).empty();
  }

  bool in_comment_ = false;
  bool continued_ = false;  // by a backslash at the end of the line
};

std::string text_of(const SourceHeader& header) {
  std::string out = header.compiler.empty() ? "" : "// kp:compiler " + header.compiler + "\n";
  if (header.names_options) {
    out += "// kp:options";
    for (const std::string& option : header.options) {
      out += " " + option;
    }
    out += "\n";
  }
  return out;
}

}  // namespace

SourceHeader read_source_header(const std::string& source) {
  SourceHeader header;
  std::istringstream lines(without_byte_order_mark(source));
  bool continued = false;
  for (std::string line; std::getline(lines, line);) {
    const std::string_view text = trimmed(line);
    if (!continued) {
      if (!text.empty() && !text.starts_with("//")) {
        break;
      }
      take_wish(text, header);
    }
    continued = text.ends_with('\\');
  }
  return header;
}

std::string with_header_first(const std::string& source) {
  std::string whole = without_byte_order_mark(source);
  std::istringstream lines(whole);
  LeadingLines leading;
  SourceHeader header;
  std::string rest;
  bool first = true;  // nothing but empty lines and comments until here
  bool plain = true;
  std::size_t read = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string_view text = trimmed(line);
    const bool inside = leading.go_on_inside();
    if (!leading.goes_on(text)) {
      break;
    }
    first = first && (line.empty() || line.starts_with("//"));
    if (!inside && !leading.go_on_inside() && take_wish(text, header)) {
      plain = plain && first && line.starts_with("// kp:");
    } else {
      rest += line + "\n";
    }
    read += line.size() + 1;
  }
  return plain ? whole : text_of(header) + rest + whole.substr(std::min(read, whole.size()));
}

}  // namespace kernelpro
