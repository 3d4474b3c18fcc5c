// Text as the words that a search compares: identifiers whole and in their parts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelpro::code {

// `PipelineTmaAsync` is one identifier with the parts pipeline, tma and async; `sm90` is one part.
struct Identifier {
  std::string whole;               // in lower case, without underscores: "pipelinetmaasync"
  std::vector<std::string> parts;  // by `stem`; one of a single part is its own part
};

// What is written in letters, digits and underscores, in order; nothing longer than any name.
[[nodiscard]] std::vector<std::string_view> names_of(std::string_view text);

// Parts that no search asks for are left out: single letters, numbers of more than four digits.
[[nodiscard]] Identifier split_name(std::string_view name);

// An English word in lower case without its ending, so that `scaled`, `scaling` and `scale` meet.
[[nodiscard]] std::string stem(std::string word);

// Words of a question that say nothing about code: "how", "the".
[[nodiscard]] bool is_filler(std::string_view word);

}  // namespace kernelpro::code
