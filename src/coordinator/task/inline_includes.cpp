#include "coordinator/task/inline_includes.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <set>
#include <system_error>
#include <vector>

#include "common/base/file.hpp"
#include "coordinator/task/lexer.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

class Inliner {
 public:
  Result<std::string> expand(const fs::path& file) {
    std::error_code failed;
    if (!seen_.insert(fs::weakly_canonical(file, failed).string()).second) {
      return std::string();
    }
    auto source = read_file(file);
    if (!source.ok()) {
      return source.error();
    }
    const std::vector<Token> tokens = lex_cpp(*source);
    std::vector<Edit> edits;
    for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
      const Token& last = tokens[i + 2];
      const std::size_t length = last.offset + last.text.size() - tokens[i].offset;
      if (tokens[i].text != "#" || last.directive.empty()) {
        continue;
      }
      if (tokens[i + 1].text == "pragma" && last.text == "once") {
        edits.push_back({tokens[i].offset, length, ""});
      } else if (tokens[i + 1].text == "include" && last.kind == Token::Kind::text &&
                 last.text != "\"kernelpro/candidate.h\"") {
        auto content = included(file, last);
        if (!content.ok()) {
          return content.error();
        }
        edits.push_back({tokens[i].offset, length, *content});
      }
    }
    return apply_edits(*source, edits);
  }

 private:
  Result<std::string> included(const fs::path& from, const Token& quoted) {
    const std::string name = quoted.text.substr(1, quoted.text.size() - 2);
    const fs::path header = from.parent_path() / name;
    std::error_code failed;
    if (!fs::is_regular_file(header, failed)) {
      return make_error(ErrorKind::bad_input,
                        fmt::format("the included \"{}\" does not lie beside this file (looked for "
                                    "{}); copy what the function needs into one file",
                                    name, header.string()),
                        fmt::format("{}:{}", from.string(), quoted.line));
    }
    return expand(header);
  }

  std::set<std::string> seen_;
};

}  // namespace

Result<std::string> inline_includes(const fs::path& file) {
  return Inliner().expand(file);
}

}  // namespace kernelpro
