#include "coordinator/code/words.hpp"

#include <algorithm>
#include <array>

#include "common/base/text.hpp"

namespace kernelpro::code {

namespace {

constexpr std::size_t longest_name = 64;
constexpr std::size_t longest_number = 4;

bool is_upper(char letter) {
  return letter >= 'A' && letter <= 'Z';
}

bool is_lower(char letter) {
  return letter >= 'a' && letter <= 'z';
}

char lower(char letter) {
  return is_upper(letter) ? static_cast<char>(letter - 'A' + 'a') : letter;
}

// Whether a part ends before `name[at]`: tma|Async, sm90|Tma, UMMA|Layout.
bool ends_before(std::string_view name, std::size_t at) {
  const char before = name[at - 1];
  const char here = name[at];
  if (!is_upper(here)) {
    return false;
  }
  return is_lower(before) || is_digit(before) ||
         (is_upper(before) && at + 1 < name.size() && is_lower(name[at + 1]));
}

bool is_number(std::string_view word) {
  return std::all_of(word.begin(), word.end(), is_digit);
}

bool worth_keeping(std::string_view word) {
  return word.size() > 1 && (!is_number(word) || word.size() <= longest_number);
}

bool ends_with(const std::string& word, std::string_view ending, std::size_t at_least) {
  return word.size() >= at_least && word.ends_with(ending);
}

void cut(std::string& word, std::size_t letters) {
  word.resize(word.size() - letters);
}

// "swapp" of "swapped" is "swap"; "fill", "pass" and "fizz" stay.
void cut_doubled(std::string& word) {
  const std::size_t size = word.size();
  if (size > 3 && word[size - 1] == word[size - 2] &&
      std::string_view("aeioulsz").find(word.back()) == std::string_view::npos) {
    word.pop_back();
  }
}

}  // namespace

std::string stem(std::string word) {
  if (!std::all_of(word.begin(), word.end(), is_lower)) {
    return word;
  }
  if (ends_with(word, "s", 4) && !word.ends_with("ss") && !word.ends_with("us")) {
    word.pop_back();
  }
  if (ends_with(word, "ing", 6)) {
    cut(word, 3);
    cut_doubled(word);
  } else if (ends_with(word, "ed", 5)) {
    cut(word, 2);
    cut_doubled(word);
  } else if (ends_with(word, "tion", 7) || ends_with(word, "sion", 7)) {
    cut(word, 3);
  }
  if (ends_with(word, "e", 4)) {
    word.pop_back();
  }
  return word;
}

std::vector<std::string_view> names_of(std::string_view text) {
  std::vector<std::string_view> found;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) {
      ++end;
    }
    if (end > at && end - at <= longest_name) {
      found.push_back(text.substr(at, end - at));
    }
    at = end + 1;
  }
  return found;
}

Identifier split_name(std::string_view name) {
  Identifier found;
  std::string part;
  const auto end_part = [&] {
    if (worth_keeping(part)) {
      found.parts.push_back(stem(part));
    }
    part.clear();
  };
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (name[at] == '_' || (at > 0 && ends_before(name, at))) {
      end_part();
    }
    if (name[at] != '_') {
      part += lower(name[at]);
      found.whole += part.back();
    }
  }
  end_part();
  return found;
}

bool is_filler(std::string_view word) {
  static constexpr std::array<std::string_view, 40> fillers = {
      "an",   "and",  "are",  "as",    "at",    "be",   "by",   "can",  "do",    "does",
      "each", "for",  "from", "has",   "have",  "how",  "in",   "into", "is",    "it",
      "its",  "me",   "my",   "of",    "on",    "or",   "that", "the",  "their", "this",
      "to",   "what", "when", "where", "which", "with", "who",  "why",  "you",   "use"};
  return std::find(fillers.begin(), fillers.end(), word) != fillers.end();
}

}  // namespace kernelpro::code
