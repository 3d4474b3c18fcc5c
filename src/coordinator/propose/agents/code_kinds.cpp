#include "coordinator/propose/agents/code_kinds.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "common/base/text.hpp"
#include "coordinator/propose/agents/text.hpp"
#include "coordinator/propose/candidate_key.hpp"

namespace kernelpro::agents {

namespace {

bool is_one_of(const auto& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_python(const CodeBlock& block) {
  constexpr auto names = std::to_array<std::string_view>({"python", "py", "python3", "triton"});
  if (is_one_of(names, block.language)) {
    return true;
  }
  if (block.text.find("#include") != std::string::npos) {
    return false;
  }
  const std::vector<std::string> lines = lines_of(block.text);
  return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("import ") || line.starts_with("from ") || line.starts_with("def ") ||
           line.starts_with("@triton");
  });
}

// Without comments, and with nothing between quotes.
std::string bare_code(const std::string& source) {
  const std::string code = normalized_source(source);
  std::string out;
  for (std::size_t i = 0; i < code.size(); ++i) {
    out += code[i];
    // 120'000: the quote separates digits.
    if (code[i] != '"' && (code[i] != '\'' || (i > 0 && is_word(code[i - 1])))) {
      continue;
    }
    const char quote = code[i];
    for (++i; i < code.size() && code[i] != quote; ++i) {
      i += code[i] == '\\' ? 1 : 0;
    }
    out += quote;
  }
  return out;
}

bool is_cuda(const CodeBlock& block) {
  const std::string code = bare_code(block.text);
  return code.find("__global__") != std::string::npos || code.find("<<<") != std::string::npos;
}

// Behind the parenthesis that closes the one at `open`; npos: none does nearby.
std::size_t end_of_parameters(std::string_view code, std::size_t open) {
  constexpr std::size_t longest = 4000;
  int depth = 0;
  for (std::size_t i = open; i < std::min(code.size(), open + longest); ++i) {
    depth += code[i] == '(' ? 1 : 0;
    depth -= code[i] == ')' ? 1 : 0;
    if (depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

// Whether a body follows: at once, or behind `noexcept`, `-> int`, an attribute and the like.
bool has_body(std::string_view code, std::size_t from) {
  constexpr std::string_view others = " \n->[]:";
  const std::string_view rest = code.substr(std::min(from, code.size()));
  const auto* const next = std::find_if(rest.begin(), rest.end(), [others](char c) {
    return !is_word(c) && others.find(c) == std::string_view::npos;
  });
  return next != rest.end() && *next == '{';
}

}  // namespace

bool is_wrong_language(const CodeBlock& block, Backend backend) {
  return is_python(block) || (backend == Backend::cpu && is_cuda(block));
}

bool is_difference(const CodeBlock& block) {
  constexpr auto names = std::to_array<std::string_view>({"diff", "patch", "udiff"});
  return is_one_of(names, block.language) || block.text.starts_with("diff --git ") ||
         block.text.starts_with("--- a/") || block.text.starts_with("@@ -") ||
         block.text.find("\n@@ -") != std::string::npos;
}

bool defines_launch(const std::string& source) {
  constexpr std::string_view name = "kp_launch";
  const std::string code = normalized_source(source);
  for (std::size_t at = code.find(name); at != std::string::npos; at = code.find(name, at + 1)) {
    const std::size_t next = code.find_first_not_of(' ', at + name.size());
    const bool whole_word = at == 0 || !is_word(code[at - 1]);
    if (whole_word && next != std::string::npos && code[next] == '(' &&
        has_body(code, end_of_parameters(code, next))) {
      return true;
    }
  }
  return false;
}

bool is_bare_source(const std::string& text) {
  constexpr auto beginnings =
      std::to_array<std::string_view>({"//", "/*", "#include", "#pragma", "#define", "#if"});
  const std::string source = trimmed(text);
  const bool begins = std::any_of(beginnings.begin(), beginnings.end(), [&source](auto beginning) {
    return source.starts_with(beginning);
  });
  const std::size_t last_line = source.rfind('\n') + 1;
  const bool ends = source.ends_with('}') || source.compare(last_line, 1, "#") == 0 ||
                    source.compare(last_line, 2, "//") == 0;
  return begins && ends && source.find("kernelpro/candidate.h") != std::string::npos &&
         defines_launch(source);
}

}  // namespace kernelpro::agents
