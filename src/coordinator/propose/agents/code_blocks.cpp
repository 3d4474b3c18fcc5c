#include "coordinator/propose/agents/code_blocks.hpp"

#include <algorithm>
#include <cctype>

#include "coordinator/propose/agents/text.hpp"

namespace kernelpro::agents {

namespace {

struct Fence {
  char mark = '`';
  std::size_t length = 0;  // 0: the line is no fence
  std::string rest;        // behind it
};

Fence fence_of(const std::string& line) {
  constexpr std::size_t most_indent = 3;
  constexpr std::size_t shortest = 3;
  const std::size_t first = line.find_first_not_of(' ');
  if (first == std::string::npos || first > most_indent ||
      (line[first] != '`' && line[first] != '~')) {
    return {};
  }
  const std::size_t end = std::min(line.find_first_not_of(line[first], first), line.size());
  Fence fence{line[first], end - first, trimmed(line.substr(end))};
  // `code` in a sentence.
  const bool inline_code = fence.rest.find('`') != std::string::npos;
  return fence.length >= shortest && !inline_code ? fence : Fence{};
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
    } else if (fence.mark == open.mark && fence.length >= open.length && fence.rest.empty()) {
      open = {};
    } else {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

}  // namespace kernelpro::agents
