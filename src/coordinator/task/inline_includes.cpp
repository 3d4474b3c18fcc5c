#include "coordinator/task/inline_includes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "common/base/file.hpp"
#include "common/base/paths.hpp"
#include "coordinator/task/lexer.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view mark_begin = "// kp:include begin ";
constexpr std::string_view mark_end = "// kp:include end ";

class Inliner {
 public:
  Inliner() = default;
  Inliner(std::vector<fs::path> folders, fs::path root)
      : folders_(std::move(folders)), root_(std::move(root)), marked_(true) {}

  Result<std::string> expand(const fs::path& file) {
    std::error_code failed;
    if (!seen_.insert(fs::weakly_canonical(file, failed).string()).second) {
      return std::string();
    }
    KP_LET(const std::string source, read_file(file));
    const std::vector<Token> tokens = lex_cpp(source);
    std::vector<Edit> edits;
    for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
      const Token& last = tokens[i + 2];
      const std::size_t length = last.offset + last.text.size() - tokens[i].offset;
      if (tokens[i].text != "#" || last.directive.empty()) {
        continue;
      }
      if (tokens[i + 1].text == "pragma" && last.text == "once" && !marked_) {
        edits.push_back({tokens[i].offset, length, ""});
      } else if (tokens[i + 1].text == "include" && last.text != "\"kernelpro/candidate.h\"") {
        const std::size_t end = source.find('\n', tokens[i].offset);
        const std::string line = source.substr(tokens[i].offset, end - tokens[i].offset);
        KP_LET(const std::optional<std::string> content, included(file, last, line));
        if (content) {
          edits.push_back({tokens[i].offset, marked_ ? line.size() : length, *content});
        }
      }
    }
    return apply_edits(source, edits);
  }

 private:
  // What stands for the directive; nothing: it stays.
  Result<std::optional<std::string>> included(const fs::path& from, const Token& named,
                                              const std::string& line) {
    const bool quoted = named.kind == Token::Kind::text;
    if (!quoted && !marked_) {
      return std::optional<std::string>();
    }
    const std::size_t open = line.find_first_of("<\"");
    const std::size_t close = line.find_first_of(">\"", open + 1);
    if (open == std::string::npos || close == std::string::npos) {
      return std::optional<std::string>();
    }
    const std::string name = line.substr(open + 1, close - open - 1);
    std::error_code failed;
    std::vector<fs::path> places = folders_;
    if (quoted) {
      places.insert(places.begin(), from.parent_path());
    }
    for (const fs::path& place : places) {
      if (fs::is_regular_file(place / name, failed)) {
        KP_LET(std::string text, expand(place / name));
        return std::optional(marked_ ? marked(place / name, line, text) : std::move(text));
      }
    }
    if (marked_) {
      return std::optional<std::string>();
    }
    return make_error(ErrorKind::bad_input,
                      fmt::format("the included \"{}\" does not lie beside this file (looked for "
                                  "{}); copy what the function needs into one file",
                                  name, (from.parent_path() / name).string()),
                      fmt::format("{}:{}", from.string(), named.line));
  }

  // `#pragma once` of a pasted header would be about the whole.
  [[nodiscard]] std::string marked(const fs::path& header, const std::string& line,
                                   std::string text) const {
    for (std::size_t at = text.find("#pragma once"); at != std::string::npos;
         at = text.find("#pragma once", at + 15)) {
      text.insert(at, "// ");
    }
    text += text.empty() || text.ends_with('\n') ? "" : "\n";
    return fmt::format("{0}{1} {2}\n{3}{4}{1}", mark_begin, portable_path(header, root_).string(),
                       line, text, mark_end);
  }

  std::vector<fs::path> folders_;
  fs::path root_;
  bool marked_ = false;
  std::set<std::string> seen_;
};

}  // namespace

Result<std::string> inline_includes(const fs::path& file) {
  return Inliner().expand(file);
}

Result<std::string> inline_marked(const fs::path& file, const std::vector<fs::path>& folders,
                                  const fs::path& root) {
  return Inliner(folders, root).expand(file);
}

std::optional<Uninlined> take_includes_out(const std::string& text) {
  struct Open {
    std::string header;
    std::string directive;
    std::string text;
  };
  Uninlined out;
  std::vector<Open> open(1);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string line = text.substr(at, end - at);
    at = end;
    if (line.starts_with(mark_begin)) {
      const std::size_t directive = line.find(" #", mark_begin.size());
      if (directive == std::string::npos) {
        return {};
      }
      open.push_back({line.substr(mark_begin.size(), directive - mark_begin.size()),
                      line.substr(directive + 1), ""});
    } else if (line.starts_with(mark_end)) {
      if (open.size() < 2 || !line.substr(mark_end.size()).starts_with(open.back().header)) {
        return {};
      }
      Open done = std::move(open.back());
      open.pop_back();
      for (std::size_t once = done.text.find("// #pragma once"); once != std::string::npos;
           once = done.text.find("// #pragma once", once)) {
        done.text.erase(once, 3);
      }
      open.back().text += done.directive;
      if (!done.text.empty()) {
        out.headers.emplace(std::move(done.header), std::move(done.text));
      }
    } else {
      open.back().text += line;
    }
  }
  out.text = std::move(open.back().text);
  return open.size() == 1 ? std::optional(std::move(out)) : std::nullopt;
}

std::string with_lines(const std::string& text, const fs::path& file) {
  struct Place {
    std::string file;
    int line = 1;
  };
  std::vector<Place> open = {{file.string(), 1}};
  const auto mark = [&open] {
    return fmt::format("#line {} \"{}\"\n", open.back().line, open.back().file);
  };
  std::string out = mark();
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(mark_begin)) {
      const std::size_t directive = std::min(line.find(" #", mark_begin.size()), line.size());
      open.push_back({line.substr(mark_begin.size(), directive - mark_begin.size()), 1});
      out += mark();
    } else if (line.starts_with(mark_end) && open.size() > 1) {
      open.pop_back();
      ++open.back().line;
      out += mark();
    } else {
      ++open.back().line;
      out += line + "\n";
    }
  }
  return out;
}

}  // namespace kernelpro
