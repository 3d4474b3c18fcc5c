// One self-contained source from a file and the headers that lie beside it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace kernelpro {

// The file's text with every `#include "x"` replaced by the content of x, looked up beside the file
// that includes it, each file once. `#include <x>` and "kernelpro/candidate.h" stay as they are.
[[nodiscard]] Result<std::string> inline_includes(const std::filesystem::path& file);

// The same with headers of `folders` too, and each pasted header between two marked lines; what is
// found nowhere is the system's. The marks name headers as seen from `root`. `take_includes_out`
// puts the directives back.
[[nodiscard]] Result<std::string> inline_marked(const std::filesystem::path& file,
                                                const std::vector<std::filesystem::path>& folders,
                                                const std::filesystem::path& root);

struct Uninlined {
  std::string text;  // of the file itself
  std::map<std::string, std::string>
      headers;  // what now stands between the marks, by the path there
};

// Nothing where the marks are not as they were written.
[[nodiscard]] std::optional<Uninlined> take_includes_out(const std::string& text);

// Such a text with `#line` directives, so that compilers name the lines of `file` and its headers.
[[nodiscard]] std::string with_lines(const std::string& text, const std::filesystem::path& file);

}  // namespace kernelpro
