// C++ source as tokens with places: enough to find a function and to exchange words.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kernelpro {

struct Token {
  enum class Kind { word, number, text, punctuation };

  Kind kind = Kind::punctuation;
  std::string text;  // as written; "::" and "->" are one token, all other punctuation is single
  std::size_t offset = 0;
  int line = 1;
  // The directive whose line it stands on ("include", "define", …); empty outside directives.
  std::string directive;
};

// Comments are skipped, string and character literals (raw ones too) are one token of kind `text`.
// Never fails: what is not C++ comes out as punctuation.
[[nodiscard]] std::vector<Token> lex_cpp(const std::string& source);

// A replacement of `length` characters at `offset`.
struct Edit {
  std::size_t offset = 0;
  std::size_t length = 0;
  std::string text;
};

// `edits` in rising order of offset, without overlap.
[[nodiscard]] std::string apply_edits(const std::string& source, const std::vector<Edit>& edits);

}  // namespace kernelpro
