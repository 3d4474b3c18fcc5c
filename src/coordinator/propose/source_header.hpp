// Build wishes that stand in a source itself.
#pragma once

#include <string>
#include <vector>

namespace kernelpro {

struct SourceHeader {
  std::string compiler;              // `// kp:compiler clang++-19`
  std::vector<std::string> options;  // `// kp:options -O3 target openmp`
};

// Reads the `// kp:` lines at the top of a source, up to the first line that is no comment.
[[nodiscard]] SourceHeader read_source_header(const std::string& source);

}  // namespace kernelpro
