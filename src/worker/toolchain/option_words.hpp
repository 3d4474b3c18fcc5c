// What both lists of allowed build options share.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "worker/toolchain/options.hpp"

namespace kernelpro {

// Whether `text` consists of letters, digits and the characters of `also`; an empty text does.
[[nodiscard]] inline bool is_made_of(std::string_view text, std::string_view also) {
  return std::ranges::all_of(text, [also](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter || (c >= '0' && c <= '9') || also.find(c) != std::string_view::npos;
  });
}

// Whether `word` stands in `list`, where each word has a space on either side.
[[nodiscard]] inline bool has_word(std::string_view list, std::string_view word) {
  return !word.empty() && word.find(' ') == std::string_view::npos &&
         list.find(" " + std::string(word) + " ") != std::string_view::npos;
}

[[nodiscard]] inline bool is_identifier(std::string_view name) {
  return !name.empty() && (name[0] < '0' || name[0] > '9') && is_made_of(name, "_");
}

// -DNAME or -DNAME=VALUE with a value of letters, digits and . _ + -
[[nodiscard]] inline bool is_plain_definition(std::string_view option) {
  if (!option.starts_with("-D")) {
    return false;
  }
  const std::string_view body = option.substr(2);
  const std::size_t equals = body.find('=');
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : body.substr(equals + 1);
  return is_identifier(body.substr(0, equals)) && is_made_of(value, "_.+-");
}

// Options that begin with `prefix`, and why they are refused.
struct RefusedPrefix {
  std::string_view prefix;
  std::string_view reason;
};

inline constexpr std::string_view not_listed = "it is not on the list";

// `allowed` is the summary of the list.
[[nodiscard]] inline RefusedOption refused(const std::string& option, std::string_view reason,
                                           std::string_view allowed) {
  return {"build option \"" + option + "\" is refused: " + std::string(reason) + "; " +
              std::string(allowed),
          reason != not_listed};
}

}  // namespace kernelpro
