#include "coordinator/task/inline_includes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "common/base/file.hpp"
#include "common/base/paths.hpp"
#include "coordinator/task/cuda_source.hpp"
#include "coordinator/task/lexer.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

class Inliner {
 public:
  // `within`: what may be pasted lies below one of these; empty: anything.
  Inliner(std::vector<fs::path> folders, fs::path root, bool must_find,
          std::vector<fs::path> within = {})
      : folders_(std::move(folders)),
        root_(std::move(root)),
        must_find_(must_find),
        within_(std::move(within)) {}

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
      if (tokens[i].text == "#" && !last.directive.empty() && tokens[i + 1].text == "include" &&
          last.text != "\"kernelpro/candidate.h\"") {
        const std::size_t end = source.find('\n', tokens[i].offset);
        const std::string line = source.substr(tokens[i].offset, end - tokens[i].offset);
        KP_LET(const std::optional<std::string> content, included(file, last, line));
        if (content) {
          edits.push_back({tokens[i].offset, line.size(), *content});
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
        if (!may_paste(place / name)) {
          return make_error(
              ErrorKind::bad_input,
              fmt::format("the included \"{}\" lies neither below this file's folder nor below the "
                          "current one; if it is meant, name its folder: --option -IDIR",
                          name),
              fmt::format("{}:{}", from.string(), named.line));
        }
        KP_LET(std::string text, expand(place / name));
        return std::optional(marked(place / name, line, text));
      }
    }
    if (quoted && must_find_ && !is_of_system(name)) {
      return make_error(ErrorKind::bad_input,
                        fmt::format("the included \"{}\" does not lie beside this file (looked "
                                    "for {}); name its folder: -I DIR",
                                    name, (from.parent_path() / name).string()),
                        fmt::format("{}:{}", from.string(), named.line));
    }
    return std::optional<std::string>();
  }

  [[nodiscard]] bool may_paste(const fs::path& file) const {
    std::error_code failed;
    const fs::path real = fs::canonical(file, failed);
    return within_.empty() || std::ranges::any_of(within_, [&](const fs::path& folder) {
             const fs::path top = fs::canonical(folder, failed);
             return !top.empty() && std::ranges::mismatch(top, real).in1 == top.end();
           });
  }

  // A header that compilers find without a flag, such as "assert.h".
  static bool is_of_system(const std::string& name) {
    std::error_code failed;
    const std::string cuda = cuda_headers();
    return fs::path(name).extension().empty() ||
           fs::is_regular_file(fs::path("/usr/include") / name, failed) ||
           (!cuda.empty() && fs::is_regular_file(fs::path(cuda) / name, failed));
  }

  // `#pragma once` of a pasted header would be about the whole.
  [[nodiscard]] std::string marked(const fs::path& header, const std::string& line,
                                   std::string text) const {
    for (std::size_t at = text.find("#pragma once"); at != std::string::npos;
         at = text.find("#pragma once", at + 15)) {
      text.insert(at, "// ");
    }
    text += text.empty() || text.ends_with('\n') ? "" : "\n";
    return fmt::format("{0}{1} {2}\n{3}{4}{1}", pasted_begin, portable_path(header, root_).string(),
                       line, text, pasted_end);
  }

  std::vector<fs::path> folders_;
  fs::path root_;
  bool must_find_ = false;
  std::vector<fs::path> within_;
  std::set<std::string> seen_;
};

}  // namespace

Result<std::string> inline_found(const fs::path& file, const std::vector<fs::path>& folders,
                                 const fs::path& root) {
  return Inliner(folders, root, true).expand(file);
}

Result<std::string> inline_marked(const fs::path& file, const std::vector<fs::path>& folders,
                                  const fs::path& root) {
  return Inliner(folders, root, false).expand(file);
}

Result<std::string> inline_beside(const fs::path& file, const std::vector<fs::path>& folders,
                                  const fs::path& root) {
  std::vector<fs::path> within = folders;
  within.push_back(root);
  within.push_back(file.has_parent_path() ? file.parent_path() : fs::path("."));
  return Inliner(folders, root, false, within).expand(file);
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
    if (line.starts_with(pasted_begin)) {
      const std::size_t directive = std::min(line.find(" #", pasted_begin.size()), line.size());
      open.push_back({line.substr(pasted_begin.size(), directive - pasted_begin.size()), 1});
      out += mark();
    } else if (line.starts_with(pasted_end) && open.size() > 1) {
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
