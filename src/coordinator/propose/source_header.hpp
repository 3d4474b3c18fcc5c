// Build wishes that stand in a source itself.
#pragma once

#include <string>
#include <vector>

namespace kernelpro {

struct SourceHeader {
  std::string compiler;  // `// kp:compiler clang++-19`
  std::vector<std::string>
      options;                 // `// kp:options -O3 target openmp`; they end at a further `//`
  bool names_options = false;  // whether there is such a line: it may name none
};

// Reads the `// kp:` lines at the top of a source, up to the first line that is neither a comment
// of that kind nor blank.
[[nodiscard]] SourceHeader read_source_header(const std::string& source);

// The source with these lines as its first ones and in their plain form, where they are written
// otherwise or stand farther down among comments, blank lines and lines of the preprocessor; else
// as it is. A mark of the byte order goes.
[[nodiscard]] std::string with_header_first(const std::string& source);

}  // namespace kernelpro
