// One self-contained source from a file and the headers that lie beside it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/pasted_headers.hpp"

namespace kernelpro {

// The file's text with every header that lies beside the file that includes it, or in `folders`,
// in the place of its directive, each file once and between two marked lines; what is found nowhere
// is the system's. "kernelpro/candidate.h" stays as it is. The marks name headers as seen from
// `root`. `take_includes_out` puts the directives back.
[[nodiscard]] Result<std::string> inline_marked(const std::filesystem::path& file,
                                                const std::vector<std::filesystem::path>& folders,
                                                const std::filesystem::path& root);

// The same. A header in quotes that lies nowhere, nor in the system's folders, is an error.
[[nodiscard]] Result<std::string> inline_found(const std::filesystem::path& file,
                                               const std::vector<std::filesystem::path>& folders,
                                               const std::filesystem::path& root);

// The same as the first. A header that lies neither below the file's folder, `folders` nor `root`
// is an error: the source may be somebody else's, and what is pasted travels with it.
[[nodiscard]] Result<std::string> inline_beside(const std::filesystem::path& file,
                                                const std::vector<std::filesystem::path>& folders,
                                                const std::filesystem::path& root);

// Such a text with `#line` directives, so that compilers name the lines of `file` and its headers.
[[nodiscard]] std::string with_lines(const std::string& text, const std::filesystem::path& file);

}  // namespace kernelpro
