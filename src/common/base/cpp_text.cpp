#include "common/base/cpp_text.hpp"

#include <algorithm>
#include <string>

#include "common/base/text.hpp"

namespace kernelpro {

namespace {

// Behind `close`, looked for from `from` on.
std::size_t behind(std::string_view source, std::string_view close, std::size_t from) {
  const std::size_t found = source.find(close, from);
  return found == std::string_view::npos ? source.size() : found + close.size();
}

std::size_t behind_raw_string(std::string_view source, std::size_t quote) {
  const std::size_t open = source.find('(', quote);
  if (open == std::string_view::npos) {
    return source.size();
  }
  std::string close = ")";
  close.append(source.substr(quote + 1, open - quote - 1)).append("\"");
  return behind(source, close, open);
}

// Whether a quote stands between digits, as in 120'000 and 0xff'ff, and not behind the prefix of a
// character, as in u8'a' and L'a'.
bool separates_digits(std::string_view source, std::size_t at) {
  if (at == 0 || at + 1 >= source.size() || !is_word(source[at - 1]) || !is_word(source[at + 1])) {
    return false;
  }
  const bool character = at + 2 < source.size() && source[at + 2] == '\'';
  const bool prefix = source.substr(0, at).ends_with("u8") && (at < 3 || !is_word(source[at - 3]));
  return !character || (is_digit(source[at - 1]) && !prefix);
}

}  // namespace

std::size_t behind_quoted(std::string_view source, std::size_t at) {
  const std::string_view rest = source.substr(at);
  if (rest.starts_with("//")) {
    return std::min(source.find('\n', at), source.size());
  }
  if (rest.starts_with("/*")) {
    return behind(source, "*/", at + 2);
  }
  if (rest.starts_with("R\"")) {
    return behind_raw_string(source, at + 1);
  }
  const bool opens = rest.starts_with("\"") || rest.starts_with("'");
  if (!opens || (rest[0] == '\'' && separates_digits(source, at))) {
    return at;
  }
  std::size_t end = at + 1;
  while (end < source.size() && source[end] != rest[0] && source[end] != '\n') {
    end += source[end] == '\\' ? 2 : 1;
  }
  return std::min(end + 1, source.size());
}

}  // namespace kernelpro
