#include "coordinator/app/own_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include "coordinator/task/lexer.hpp"
#include "coordinator/task/signature.hpp"

namespace kernelpro {

namespace {

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::size_t line_begin(const std::string& source, std::size_t at) {
  const std::size_t line = source.rfind('\n', at == 0 ? 0 : at - 1);
  return at == 0 || line == std::string::npos ? 0 : line + 1;
}

std::size_t line_end(const std::string& source, std::size_t at) {
  return std::min(source.find('\n', at), source.size() - 1) + 1;
}

// The lines of a plain function's definition.
std::optional<Range> lines_of(const std::string& source, const std::string& function) {
  const auto signature = parse_signature(source, function, "");
  if (!signature.ok()) {
    return {};
  }
  int depth = 0;
  for (const Token& token : lex_cpp(source)) {
    if (token.line < signature->line || !token.directive.empty()) {
      continue;
    }
    depth += token.text == "{" ? 1 : 0;
    if (token.text == "}" && --depth == 0) {
      return Range{line_begin(source, signature->first), line_end(source, token.offset)};
    }
  }
  return {};
}

std::size_t behind_includes(const std::string& source) {
  std::size_t place = 0;
  for (const Token& token : lex_cpp(source)) {
    if (token.directive == "include") {
      place = line_end(source, token.offset);
    }
  }
  // A pasted header ends with a marked line.
  const std::size_t mark = source.rfind("// kp:include end ");
  return mark == std::string::npos ? place : std::max(place, line_end(source, mark));
}

}  // namespace

std::string without_openmp(const std::string& source) {
  std::string text;
  std::size_t copied = 0;
  const auto tokens = lex_cpp(source);
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (tokens[i].text != "#" || tokens[i + 1].text != "pragma" || tokens[i + 2].text != "omp" ||
        tokens[i].directive.empty()) {
      continue;
    }
    std::size_t last = i + 2;
    while (last + 1 < tokens.size() && tokens[last + 1].directive == "pragma" &&
           tokens[last + 1].text != "#") {
      ++last;
    }
    text += source.substr(copied, line_begin(source, tokens[i].offset) - copied);
    copied = line_end(source, tokens[last].offset);
  }
  return text + source.substr(copied);
}

std::string brought_home(const std::string& source, const std::string& original, bool in_c) {
  std::set<std::string> own;
  std::istringstream own_lines(original);
  for (std::string line; std::getline(own_lines, line);) {
    own.insert(line);
  }
  static const std::regex constant(R"(\s*constexpr int (\w+) = (\d+);)");
  std::string out;
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("// kp:tune ") && !own.contains(line)) {
      continue;
    }
    std::smatch parts;
    if (in_c && !own.contains(line) && std::regex_match(line, parts, constant)) {
      line = fmt::format("enum {{ {} = {} }};", parts[1].str(), parts[2].str());
    }
    out += line + (lines.eof() ? "" : "\n");
  }
  return out;
}

std::vector<std::string> carried_flags(const std::vector<std::string>& wanted,
                                       const std::vector<std::string>& own) {
  std::vector<std::string> flags;
  for (const std::string& option : wanted) {
    const bool fits = option == "-O3" || option == "-ffast-math" || option == "-funroll-loops";
    const std::string flag = option.starts_with("-f") ? option.substr(2) : option.substr(1);
    if (fits && std::ranges::find(own, option) == own.end() &&
        std::ranges::find(flags, flag) == flags.end()) {
      flags.push_back(flag);
    }
  }
  return flags;
}

std::string with_flags(const std::string& source, const std::string& function,
                       const std::vector<std::string>& flags) {
  const std::string pragma =
      fmt::format("#pragma GCC optimize(\"{}\")\n", fmt::join(flags, "\", \""));
  if (const auto range = lines_of(source, function)) {
    return source.substr(0, range->begin) + "#pragma GCC push_options\n" + pragma +
           source.substr(range->begin, range->end - range->begin) + "#pragma GCC pop_options\n" +
           source.substr(range->end);
  }
  const std::size_t place = behind_includes(source);
  return source.substr(0, place) + pragma + source.substr(place);
}

}  // namespace kernelpro
