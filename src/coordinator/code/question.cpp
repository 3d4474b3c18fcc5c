#include "coordinator/code/question.hpp"

#include <algorithm>
#include <set>

#include "coordinator/code/words.hpp"

namespace kernelpro::code {

namespace {

// The part as it was asked for joins its neighbor; by itself it is stemmed.
struct Piece {
  std::string plain;
  std::string stemmed;
};

std::string lower_case(std::string_view name) {
  return split_name(name).whole;
}

std::vector<Piece> pieces_of(std::string_view question, bool with_fillers,
                             std::vector<std::string>& wholes) {
  std::vector<Piece> pieces;
  for (const std::string_view name : names_of(question)) {
    const Identifier identifier = split_name(name);
    if (identifier.parts.size() > 1) {
      wholes.push_back(identifier.whole);
    }
    for (const std::string& part : identifier.parts) {
      const std::string plain = identifier.parts.size() == 1 ? lower_case(name) : part;
      if (with_fillers || !is_filler(plain)) {
        pieces.push_back({.plain = plain, .stemmed = part});
      }
    }
  }
  return pieces;
}

}  // namespace

std::vector<AskedWord> asked_words(std::string_view question) {
  std::vector<std::string> wholes;
  std::vector<Piece> pieces = pieces_of(question, false, wholes);
  if (pieces.empty()) {
    wholes.clear();
    pieces = pieces_of(question, true, wholes);
  }
  std::vector<AskedWord> words;
  std::set<std::string> seen;
  for (std::size_t at = 0; at < pieces.size(); ++at) {
    if (!seen.insert(pieces[at].stemmed).second) {
      continue;
    }
    AskedWord word{.forms = {pieces[at].stemmed}};
    if (at > 0) {
      word.forms.push_back(stem(pieces[at - 1].plain + pieces[at].plain));
    }
    if (at + 1 < pieces.size()) {
      word.forms.push_back(stem(pieces[at].plain + pieces[at + 1].plain));
    }
    words.push_back(std::move(word));
  }
  for (std::string& whole : wholes) {
    if (seen.insert(whole).second) {
      words.push_back({.forms = {std::move(whole)}, .extra = true});
    }
  }
  return words;
}

}  // namespace kernelpro::code
