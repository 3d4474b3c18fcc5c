#include "coordinator/rewrite/scope.hpp"

#include <algorithm>

#include "common/base/cpp_text.hpp"

namespace kernelpro {
namespace {

bool is_space(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r' || letter == '\f';
}

std::size_t end_of_line(const std::string& source, std::size_t at) {
  return std::min(source.find('\n', at), source.size());
}

// One directive of the preprocessor, from its # to the end of its last line.
struct Directive {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string word;
  int braces = 0;  // how many are open there
};

Directive directive_at(const std::string& source, std::size_t at, int braces) {
  Directive directive{at, end_of_line(source, at), "", braces};
  while (directive.end > at && source[directive.end - 1] == '\\' && directive.end < source.size()) {
    directive.end = end_of_line(source, directive.end + 1);
  }
  std::size_t word = at + 1;
  while (word < directive.end && is_space(source[word])) {
    ++word;
  }
  while (word < directive.end && source[word] >= 'a' && source[word] <= 'z') {
    directive.word += source[word++];
  }
  return directive;
}

struct Outline {
  std::vector<Directive> directives;
  std::size_t first_brace = std::string::npos;
};

Outline outline_of(const std::string& source) {
  Outline outline;
  int braces = 0;
  bool line_start = true;
  for (std::size_t at = 0; at < source.size();) {
    if (source[at] == '#' && line_start) {
      outline.directives.push_back(directive_at(source, at, braces));
      at = outline.directives.back().end;
      continue;
    }
    if (const std::size_t behind = behind_quoted(source, at); behind > at) {
      at = behind;
      line_start = false;
      continue;
    }
    if (source[at] == '{') {
      outline.first_brace = std::min(outline.first_brace, at);
      ++braces;
    } else if (source[at] == '}') {
      --braces;
    }
    line_start = source[at] == '\n' || (line_start && is_space(source[at]));
    ++at;
  }
  return outline;
}

// Behind the line of the last include before any code, out of all conditions.
std::size_t end_of_head(const std::string& source, const Outline& outline) {
  std::size_t head = 0;
  int conditions = 0;
  bool pending = false;
  for (const Directive& directive : outline.directives) {
    if (directive.begin > outline.first_brace) {
      break;
    }
    if (directive.word.starts_with("if")) {
      ++conditions;
    } else if (directive.word == "endif") {
      --conditions;
    }
    pending = pending || directive.word == "include";
    if (pending && conditions == 0) {
      head = std::min(directive.end + 1, source.size());
      pending = false;
    }
  }
  return head;
}

std::string opening(const std::string& source, std::size_t at) {
  const auto line =
      std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  // The ABI's functions are C functions in any namespace; said again in this one, a call inside it
  // finds one function and not two.
  return std::string("\nnamespace ") + scope_name +
         " {\n#ifdef KERNELPRO_CANDIDATE_H\nextern \"C\" {\n"
         "int kp_launch(const kp_context*, const kp_tensor*, int32_t);\n"
         "size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t);\n"
         "size_t kp_state(const kp_context*, const kp_tensor*, int32_t);\n"
         "int kp_prepare(const kp_context*, const kp_tensor*, int32_t);\n"
         "const char* kp_implementation(void);\n}\n#endif\n#line " +
         std::to_string(line) + "\n";
}

}  // namespace

std::size_t ScopedSource::original(std::size_t offset) const {
  std::size_t shift = 0;
  for (const Insertion& insertion : insertions) {
    if (offset < insertion.at + shift + insertion.length) {
      return std::min(insertion.at, offset - std::min(offset, shift));
    }
    shift += insertion.length;
  }
  return offset - shift;
}

std::size_t skip_blanks(const std::string& source, std::size_t at) {
  while (at < source.size()) {
    if (is_space(source[at])) {
      ++at;
    } else if (source[at] == '/' && behind_quoted(source, at) > at) {
      at = behind_quoted(source, at);
    } else {
      break;
    }
  }
  return at;
}

ScopedSource put_in_scope(const std::string& source) {
  const Outline outline = outline_of(source);
  ScopedSource scoped;
  scoped.head = end_of_head(source, outline);
  std::size_t copied = 0;
  const auto insert = [&](std::size_t at, const std::string& text) {
    scoped.text += source.substr(copied, at - copied) + text;
    copied = at;
    scoped.insertions.push_back({at, text.size()});
  };
  insert(scoped.head, opening(source, scoped.head));
  for (const Directive& directive : outline.directives) {
    if (directive.word == "include" && directive.begin >= scoped.head && directive.braces == 0) {
      insert(directive.begin, "}\n");
      insert(directive.end, opening(source, directive.end));
    }
  }
  insert(source.size(), "\n}\n");
  return scoped;
}

}  // namespace kernelpro
