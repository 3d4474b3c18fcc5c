#include "coordinator/propose/agents/code_blocks.hpp"

#include <algorithm>
#include <cctype>

#include "coordinator/propose/agents/text.hpp"

namespace kernelpro::agents {

namespace {

// How much further in than its beginning the end of a block may stand.
constexpr std::size_t most_further_in = 3;

struct Fence {
  char mark = '`';
  std::size_t length = 0;  // 0: the line is no fence
  std::size_t indent = 0;  // blanks and tabs before it
  std::string rest;        // behind it
};

Fence fence_of(const std::string& line) {
  constexpr std::size_t shortest = 3;
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string::npos || (line[first] != '`' && line[first] != '~')) {
    return {};
  }
  const std::size_t end = std::min(line.find_first_not_of(line[first], first), line.size());
  Fence fence{line[first], end - first, first, trimmed(line.substr(end))};
  // `code` in a sentence.
  const bool inline_code = fence.rest.find('`') != std::string::npos;
  return fence.length >= shortest && !inline_code ? fence : Fence{};
}

// A block in an item of a list stands in as far as its fence does.
std::string without_indent(const std::string& line, std::size_t most) {
  return line.substr(std::min({line.find_first_not_of(" \t"), most, line.size()}));
}

std::string language_in(const std::string& rest) {
  std::string word = rest.substr(0, rest.find_first_of(" \t{"));
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word;
}

}  // namespace

std::vector<CodeBlock> code_blocks(const std::string& text) {
  std::vector<CodeBlock> blocks;
  Fence open;
  for (const std::string& line : lines_of(text)) {
    const Fence fence = fence_of(line);
    if (open.length == 0) {
      if (fence.length > 0) {
        open = fence;
        blocks.push_back({language_in(fence.rest), ""});
      }
    } else if (fence.mark == open.mark && fence.length >= open.length && fence.rest.empty() &&
               fence.indent <= open.indent + most_further_in) {
      open = {};
    } else {
      blocks.back().text += without_indent(line, open.indent) + "\n";
    }
  }
  return blocks;
}

}  // namespace kernelpro::agents
