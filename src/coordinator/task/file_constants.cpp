#include "coordinator/task/file_constants.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "common/model/formula.hpp"

namespace kernelpro {
namespace {

constexpr int deepest_constant = 8;

// "0x40u", "1'024L"; not "1.5", "1e6".
std::optional<std::int64_t> literal(std::string text) {
  std::erase(text, '\'');
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  text.erase(text.find_last_not_of("ulz") + 1);
  int base = 10;
  std::size_t begin = 0;
  if (text.starts_with("0x") || text.starts_with("0b")) {
    base = text[1] == 'x' ? 16 : 2;
    begin = 2;
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
  }
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + begin, end, value, base);
  return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> FileConstants::value(const Tokens& expression) const {
  return value_within(expression, 0);
}

std::optional<std::int64_t> FileConstants::value_within(const Tokens& expression, int depth) const {
  if (expression.empty() || depth > deepest_constant) {
    return {};
  }
  std::string text;
  for (const Token& token : expression) {
    std::optional<std::int64_t> number;
    if (token.kind == Token::Kind::number) {
      number = literal(token.text);
    } else if (token.kind == Token::Kind::word) {
      number = constant(token.text, depth);
    } else {
      text += token.text;
      continue;
    }
    if (!number) {
      return {};
    }
    text += " " + std::to_string(*number);
  }
  const auto formula = Formula::parse(text);
  const auto size = formula.ok() ? formula->evaluate_size({}) : Result<std::int64_t>(0);
  return formula.ok() && size.ok() ? std::optional(*size) : std::nullopt;
}

std::optional<std::int64_t> FileConstants::constant(const std::string& name, int depth) const {
  std::optional<std::int64_t> found;
  for (std::size_t i = 1; i + 1 < tokens_.size(); ++i) {
    if (tokens_[i].text != name) {
      continue;
    }
    const Tokens given = given_at(i);
    if (given.empty()) {
      continue;
    }
    const auto value = is_constant(i) ? value_within(given, depth + 1) : std::nullopt;
    if (!value || (found && *found != *value)) {
      return {};
    }
    found = value;
  }
  return found;
}

// What the name at that place is given, if anything.
Tokens FileConstants::given_at(std::size_t at) const {
  Tokens out;
  if (tokens_[at].directive == "define" && tokens_[at - 1].text == "define") {
    for (std::size_t i = at + 1; i < tokens_.size() && tokens_[i].directive == "define"; ++i) {
      if (tokens_[i].text == "#") {
        break;
      }
      out.push_back(tokens_[i]);
    }
    return out;
  }
  const std::string& sign = tokens_[at + 1].text;
  const bool equal = sign == "=" && at + 2 < tokens_.size() && tokens_[at + 2].text != "=";
  if (!equal && sign != "{") {
    return out;
  }
  for (std::size_t i = at + 2; i < tokens_.size(); ++i) {
    const std::string& text = tokens_[i].text;
    if (text == ";" || text == "," || text == "}") {
      break;
    }
    out.push_back(tokens_[i]);
  }
  return out;
}

bool FileConstants::is_constant(std::size_t at) const {
  if (tokens_[at].directive == "define") {
    return true;
  }
  std::size_t i = at;
  while (i > 0 && tokens_[i - 1].text != ";" && tokens_[i - 1].text != "{" &&
         tokens_[i - 1].text != "}" && tokens_[i - 1].text != "(") {
    --i;
    if (tokens_[i].text == "const" || tokens_[i].text == "constexpr") {
      return true;
    }
  }
  // "enum { A = 1, B = 2 }", "enum class Size : int { A = 1 }".
  constexpr std::size_t longest_head = 6;
  if (i == 0 || tokens_[i - 1].text != "{") {
    return false;
  }
  for (std::size_t back = 2; back <= longest_head && back <= i; ++back) {
    const std::string& text = tokens_[i - back].text;
    if (text == "enum") {
      return true;
    }
    if (text == ";" || text == "}" || text == "{" || text == ")") {
      break;
    }
  }
  return false;
}

}  // namespace kernelpro
