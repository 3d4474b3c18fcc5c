// Headers that were pasted into a source between marked lines, so that a build sees one file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace kernelpro {

// Before the header's path and the directive that it stands for; behind it the path again.
inline constexpr std::string_view pasted_begin = "// kp:include begin ";
inline constexpr std::string_view pasted_end = "// kp:include end ";

struct Uninlined {
  std::string text;  // of the file itself
  std::map<std::string, std::string>
      headers;  // what now stands between the marks, by the path there
};

// Nothing where the marks are not as they were written.
[[nodiscard]] std::optional<Uninlined> take_includes_out(const std::string& text);

// The source with directives in the place of what was pasted, for people and models; the source as
// it is where nothing was.
[[nodiscard]] std::string without_pasted(const std::string& source);

// Puts what `original` has pasted back to where its directives stand in `text`.
[[nodiscard]] std::string with_pasted(const std::string& text, const std::string& original);

// What of the pasted headers the rest of the source uses, directly or through each other: whole
// declarations and macros, by their names. Empty: nothing was pasted, or nothing of it is used.
[[nodiscard]] std::string used_of_pasted(const std::string& source);

}  // namespace kernelpro
