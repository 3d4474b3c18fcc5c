// What a compiler's output tells beyond its text.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace kernelpro {

// Whether g++, clang or an assembler complained that a file outside of the build's own folder
// `root` was kept from it (#include, __has_include, #embed, .incbin, .include). Relative paths are
// taken from `source_folder`. Evidence for the verdict only: the jail is what keeps the file.
[[nodiscard]] bool shows_private_file(const std::string& diagnostics,
                                      const std::filesystem::path& source_folder,
                                      const std::filesystem::path& root);

// Of all that compilers say of loops, why they did not vectorize some.
[[nodiscard]] std::string remark_lines(std::string_view text);

// The first part of a long text, with a last line that says how much was left out.
[[nodiscard]] std::string cap_text(std::string text);

}  // namespace kernelpro
