// Code that agents may learn from, as whoever has it gives it to them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace kernelpro {

// Lines of a file, from 1, both ends included.
struct CodePassage {
  std::string file;
  std::int64_t first = 1;
  std::int64_t last = 1;
  std::string text;
};

// "cutlass/include/cute/arch/cluster_sm90.hpp:179-190".
[[nodiscard]] inline std::string place_of(const CodePassage& passage) {
  return passage.file + ":" + std::to_string(passage.first) + "-" + std::to_string(passage.last);
}

// Safe to be asked by several threads at once. An answer has a few passages of some ten lines.
class CodeLibrary {
 public:
  CodeLibrary() = default;
  CodeLibrary(const CodeLibrary&) = delete;
  CodeLibrary& operator=(const CodeLibrary&) = delete;
  virtual ~CodeLibrary() = default;

  // What fits a question best, one passage a file. Any text will do as a question.
  [[nodiscard]] virtual Result<std::vector<CodePassage>> search(
      const std::string& question) const = 0;
  // Definitions of NAME or SCOPE::NAME.
  [[nodiscard]] virtual Result<std::vector<CodePassage>> symbol(const std::string& name) const = 0;
  // FILE, FILE:LINE or FILE:FIRST-LAST.
  [[nodiscard]] virtual Result<CodePassage> read(const std::string& place) const = 0;
  // "cutlass (3330 files), kernels (12 files)".
  [[nodiscard]] virtual Result<std::string> contents() const = 0;
};

}  // namespace kernelpro
