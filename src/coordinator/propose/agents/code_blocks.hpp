// The code blocks of a text in Markdown.
#pragma once

#include <string>
#include <vector>

namespace kernelpro::agents {

struct CodeBlock {
  std::string language;  // the first word behind the fence, in small letters
  std::string text;      // its lines, each with its end
};

// Blocks between lines of three or more backquotes or tildes, without the blanks that stand before
// their fences. The last may lack its end.
[[nodiscard]] std::vector<CodeBlock> code_blocks(const std::string& text);

}  // namespace kernelpro::agents
