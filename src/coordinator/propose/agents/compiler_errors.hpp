// What a compiler said, taken apart: gcc, clang, nvcc with ptxas, and linkers.
#pragma once

#include <string>
#include <vector>

namespace kernelpro::agents {

// A step of a template's instantiation, or another place that the compiler names.
struct CompilerPlace {
  std::string file;
  int line = 0;  // 0: not known
  std::string text;
};

struct CompilerError {
  std::string file;  // empty: the message has no place
  int line = 0;
  std::string message;
  std::string code;                   // the line that the compiler showed
  std::vector<CompilerPlace> notes;   // in the order of the text
  std::vector<CompilerPlace> frames;  // of instantiation, the innermost first
  std::vector<int> lines;             // of all that say the same, this one included
};

// Errors in the order of the text, those that say the same as one.
[[nodiscard]] std::vector<CompilerError> read_compiler_errors(const std::string& text);

// Whether the file is the candidate's own and no header of the system.
[[nodiscard]] bool is_own_file(const std::string& file);

}  // namespace kernelpro::agents
