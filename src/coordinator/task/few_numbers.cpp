#include "coordinator/task/few_numbers.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "coordinator/task/file_constants.hpp"
#include "coordinator/task/function_body.hpp"

namespace kernelpro {
namespace {

constexpr std::size_t most_of_few = 16;
constexpr int most_calls = 2;  // of one function by another

// "mode", "image.mode", "image->mode" as tokens.
Tokens words_of(const std::string& parameter) {
  return lex_cpp(parameter);
}

std::int64_t escaped_letter(char letter) {
  switch (letter) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case '0':
      return '\0';
    default:
      return letter;
  }
}

// Of "'N'" and "'\n'".
std::optional<std::int64_t> letter_value(const Token& token) {
  const std::string& text = token.text;
  if (text.size() < 3 || text.front() != '\'' || text.back() != '\'') {
    return {};
  }
  if (text[1] == '\\') {
    return text.size() == 4 ? std::optional(escaped_letter(text[2])) : std::nullopt;
  }
  return text.size() == 3 ? std::optional<std::int64_t>(text[1]) : std::nullopt;
}

class FewNumbersReader {
 public:
  explicit FewNumbersReader(const Tokens& tokens) : tokens_(tokens), constants_(tokens) {}

  std::vector<Enumerator> read(const std::string& function, const std::string& parameter) {
    const Tokens body = body_of(tokens_, function);
    if (asserted(body, words_of(parameter))) {
      std::ranges::sort(found_, std::ranges::greater(), &Enumerator::value);
      return found_;
    }
    found_.clear();
    return compared(only_compared(body, words_of(parameter), most_calls));
  }

  std::vector<Enumerator> read_elements(const std::string& function, const std::string& parameter) {
    elements_ = true;
    return compared(only_compared(body_of(tokens_, function), words_of(parameter), most_calls));
  }

 private:
  static bool is(const Tokens& body, std::size_t at, const char* text) {
    return at < body.size() && body[at].text == text;
  }

  static bool is_twice(const Tokens& body, std::size_t at, const char* text) {
    return is(body, at, text) && is(body, at + 1, text) &&
           body[at + 1].offset == body[at].offset + 1;
  }

  std::vector<Enumerator> compared(bool alone) {
    if (!alone || found_.empty() || found_.size() > most_of_few) {
      return {};
    }
    if (told_from_others_) {
      add_another();
    }
    return found_;
  }

  // Whether the parameter stands there, and no member of that name.
  static bool stands_at(const Tokens& body, std::size_t at, const Tokens& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const bool member = words[i].text == ".";
      if (!is(body, at + i, words[i].text.c_str()) && !(member && is(body, at + i, "->"))) {
        return false;
      }
    }
    return at == 0 || (!is(body, at - 1, ".") && !is(body, at - 1, "->"));
  }

  // The number of an operand that ends or begins there: a letter, "3", "-1", a constant.
  [[nodiscard]] std::optional<std::int64_t> operand(const Tokens& body, std::size_t at) const {
    if (at >= body.size()) {
      return {};
    }
    if (const auto letter = letter_value(body[at])) {
      return letter;
    }
    const bool word = body[at].kind == Token::Kind::word;
    const auto value =
        word || body[at].kind == Token::Kind::number ? constants_.value({body[at]}) : std::nullopt;
    return value || !word ? value : enumerator(body[at].text);
  }

  // Of "enum Kind : char { kFirst, kSecond };", also of those that have no number of their own.
  [[nodiscard]] std::optional<std::int64_t> enumerator(const std::string& name) const {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      std::size_t open = i;
      while (tokens_[i].text == "enum" && open < tokens_.size() && tokens_[open].text != "{" &&
             tokens_[open].text != ";") {
        ++open;
      }
      if (open == i || open >= tokens_.size() || tokens_[open].text != "{") {
        continue;
      }
      std::int64_t next = 0;
      const std::size_t end = std::min(closing(tokens_, open), tokens_.size());
      for (std::size_t at = open + 1; at < end; ++at) {
        const std::size_t comma = next_comma(at, end);
        const bool given = is(tokens_, at + 1, "=");
        const auto number = given ? constants_.value(part(at + 2, comma)) : std::optional(next);
        if (!number || tokens_[at].text == name) {
          return tokens_[at].text == name ? number : std::nullopt;
        }
        next = *number + 1;
        at = comma;
      }
    }
    return {};
  }

  [[nodiscard]] std::size_t next_comma(std::size_t at, std::size_t end) const {
    while (at < end && tokens_[at].text != ",") {
      at = tokens_[at].text == "(" ? closing(tokens_, at) + 1 : at + 1;
    }
    return std::min(at, end);
  }

  [[nodiscard]] Tokens part(std::size_t begin, std::size_t end) const {
    return {tokens_.begin() + static_cast<std::ptrdiff_t>(begin),
            tokens_.begin() + static_cast<std::ptrdiff_t>(std::max(begin, end))};
  }

  bool take(const Tokens& body, std::size_t at, bool negative) {
    const auto value = operand(body, at);
    if (!value) {
      return false;
    }
    add_number((negative ? "-" : "") + body[at].text, negative ? -*value : *value);
    return true;
  }

  void add_number(const std::string& name, std::int64_t number) {
    if (std::ranges::find(found_, number, &Enumerator::value) == found_.end()) {
      found_.push_back({name, number});
    }
  }

  // "== 3", "!= -1" behind the place `at`; nothing else may be done with the result of it.
  bool compared_behind(const Tokens& body, std::size_t at) {
    const bool equal = is_twice(body, at, "=") || (is(body, at, "!") && is(body, at + 1, "="));
    const bool negative = is(body, at + 2, "-");
    const std::size_t end = at + (negative ? 4 : 3);
    static const std::vector<std::string> arithmetic = {"+", "-", "*", "/", "%", "(", "[", "::"};
    const bool more =
        end < body.size() && std::ranges::find(arithmetic, body[end].text) != arithmetic.end();
    return equal && !more && take(body, end - 1, negative);
  }

  // "3 ==" before it.
  bool compared_before(const Tokens& body, std::size_t at) {
    const bool equal = at >= 3 && (is_twice(body, at - 2, "=") ||
                                   (is(body, at - 2, "!") && is(body, at - 1, "=")));
    return equal && take(body, at - 3, at >= 4 && is(body, at - 4, "-"));
  }

  // "assert(bits == 1 || bits == 8)", "if (bits != 1 && bits != 8) return": nothing but such
  // comparisons, joined so.
  bool asserted(const Tokens& body, const Tokens& words) {
    for (std::size_t i = 0; i + 1 < body.size(); ++i) {
      const bool asks = asserts(body[i].text);
      if ((!asks && body[i].text != "if") || !is(body, i + 1, "(")) {
        continue;
      }
      const std::size_t end = std::min(closing(body, i + 1), body.size());
      const std::size_t then = is(body, end + 1, "{") ? end + 2 : end + 1;
      const bool leaves = is(body, then, "return") || is(body, then, "throw");
      Tokens condition(body.begin() + static_cast<std::ptrdiff_t>(i + 2),
                       body.begin() + static_cast<std::ptrdiff_t>(end));
      std::erase_if(condition, [](const Token& one) { return one.text == "(" || one.text == ")"; });
      found_.clear();
      if ((asks || leaves) && all_alternatives(condition, words, asks ? "=" : "!") &&
          found_.size() > 1) {
        return true;
      }
    }
    return false;
  }

  // `sign`: "=" of "a == 1 || a == 2", "!" of "a != 1 && a != 2".
  bool all_alternatives(const Tokens& condition, const Tokens& words, const char* sign) {
    const char* joint = *sign == '=' ? "|" : "&";
    for (std::size_t at = 0; at < condition.size(); at += 2) {
      if (!stands_at(condition, at, words) || !is(condition, at + words.size(), sign) ||
          !compared_behind(condition, at + words.size())) {
        return false;
      }
      at += words.size() + (is(condition, at + words.size() + 2, "-") ? 4 : 3);
      if (at < condition.size() && !is_twice(condition, at, joint)) {
        // A message may stand behind it.
        return is_twice(condition, at, "&") && at + 2 < condition.size() &&
               condition[at + 2].kind == Token::Kind::text;
      }
    }
    return !condition.empty();
  }

  // "!causal", "causal ? a : b", "if (causal)", "&& causal)".
  static bool is_condition(const Tokens& body, std::size_t at, std::size_t end) {
    const auto joins = [&body](std::size_t i) {
      return is_twice(body, i, "&") || is_twice(body, i, "|");
    };
    const bool begins = is(body, at - 1, "!") ||
                        (is(body, at - 1, "(") && at > 1 && is(body, at - 2, "if")) ||
                        (at > 1 && joins(at - 2));
    const bool ends = is(body, end, ")") || is(body, end, "?") || joins(end);
    return (begins && (ends || is(body, at - 1, "!"))) ||
           (is(body, end, "?") &&
            (is(body, at - 1, "=") || is(body, at - 1, "(") || is(body, at - 1, "return")));
  }

  // All labels of "switch (mode) { … }".
  bool take_labels(const Tokens& body, std::size_t open) {
    const std::size_t end = std::min(closing(body, open), body.size());
    for (std::size_t i = open + 1; i < end; ++i) {
      if (is(body, i, "switch")) {
        return false;  // whose labels are whose takes more than this
      }
      const bool negative = is(body, i + 1, "-");
      if (is(body, i, "case") && !take(body, i + (negative ? 2 : 1), negative)) {
        return false;
      }
    }
    return true;
  }

  // Whether nothing is done with it but to compare it.
  bool only_compared(const Tokens& body, const Tokens& words, int calls) {
    bool any = false;
    for (std::size_t i = 1; i < body.size(); ++i) {
      if (!stands_at(body, i, words) || (elements_ && is_declared_at(body, i))) {
        continue;
      }
      any = true;
      const std::size_t behind = i + words.size();
      const bool indexed = elements_ && is(body, behind, "[");
      const std::size_t end = indexed ? closing(body, behind) + 1 : behind;
      if (elements_ && !indexed) {
        const auto alias = alias_at(body, i);
        if (!alias || !only_compared(body, {*alias}, calls)) {
          return false;
        }
        continue;
      }
      if (is(body, i - 1, "(") && i > 1 && is(body, i - 2, "switch") && is(body, end, ")") &&
          is(body, end + 1, "{")) {
        if (!take_labels(body, end + 1)) {
          return false;
        }
      } else if (compared_behind(body, end) || compared_before(body, i)) {
        told_from_others_ = true;
      } else if (is_condition(body, i, end)) {
        // Any number but 0 is true; of many elements, some are neither.
        add_number("1", 1);
        add_number("0", 0);
        told_from_others_ = told_from_others_ || elements_;
      } else if (!compared_by_callee(body, i, end, calls)) {
        return false;
      }
    }
    return any;
  }

  // "mask" of "const char* mask = all + row * n;".
  static std::optional<Token> alias_at(const Tokens& body, std::size_t at) {
    const bool given = at >= 3 && is(body, at - 1, "=") && body[at - 2].kind == Token::Kind::word &&
                       is(body, at - 3, "*") && (is(body, at + 1, "+") || is(body, at + 1, ";"));
    return given ? std::optional(body[at - 2]) : std::nullopt;
  }

  // Whether it is declared there, and not used.
  static bool is_declared_at(const Tokens& body, std::size_t at) {
    return at >= 2 && is(body, at - 1, "*") && is(body, at + 1, "=") && !is(body, at + 2, "=");
  }

  // Passed as it is to a function of the file that does no more with it.
  bool compared_by_callee(const Tokens& body, std::size_t at, std::size_t end, int calls) {
    const bool alone = (is(body, at - 1, "(") || is(body, at - 1, ",")) &&
                       (is(body, end, ")") || is(body, end, ","));
    if (!alone || calls == 0) {
      return false;
    }
    std::size_t place = 0;
    std::size_t open = at;
    for (int depth = 0; open > 0 && depth <= 0; --open) {
      depth += is(body, open - 1, "(") ? 1 : 0;
      depth -= is(body, open - 1, ")") ? 1 : 0;
      place += depth == 0 && is(body, open - 1, ",") ? 1 : 0;
      if (depth > 0) {
        break;
      }
    }
    if (open < 2 || body[open - 2].kind != Token::Kind::word) {
      return false;
    }
    const std::string& callee = body[open - 2].text;
    const auto name = parameter_name(callee, place);
    const Tokens inside = body_of(tokens_, callee);
    return name && !inside.empty() && only_compared(inside, {*name}, calls - 1);
  }

  // The last word of the parameter at that place, where the function is defined.
  [[nodiscard]] std::optional<Token> parameter_name(const std::string& function,
                                                    std::size_t place) const {
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
      if (tokens_[i].text != function || tokens_[i + 1].text != "(") {
        continue;
      }
      const std::size_t end = closing(tokens_, i + 1);
      if (end + 1 >= tokens_.size() || tokens_[end + 1].text != "{") {
        continue;
      }
      std::size_t comma = 0;
      for (std::size_t k = i + 2; k <= end; ++k) {
        const bool ends = k == end || tokens_[k].text == ",";
        if (ends && comma++ == place) {
          return tokens_[k - 1].kind == Token::Kind::word ? std::optional(tokens_[k - 1])
                                                          : std::nullopt;
        }
      }
    }
    return {};
  }

  // What is none of them: a letter among letters, else the first number from 0 on.
  void add_another() {
    const bool letters =
        std::ranges::all_of(found_, [](const Enumerator& one) { return one.name.front() == '\''; });
    std::int64_t other = letters ? found_.front().value + 1 : 0;
    while (std::ranges::find(found_, other, &Enumerator::value) != found_.end()) {
      ++other;
    }
    found_.push_back(
        {letters ? std::string("'") + static_cast<char>(other) + "'" : std::to_string(other),
         other});
  }

  const Tokens& tokens_;
  FileConstants constants_;
  std::vector<Enumerator> found_;
  bool told_from_others_ = false;
  bool elements_ = false;  // it is about those of an array
};

}  // namespace

std::vector<Enumerator> few_numbers(const std::string& source, const std::string& function,
                                    const std::string& parameter) {
  const Tokens tokens = lex_cpp(source);
  return FewNumbersReader(tokens).read(function, parameter);
}

std::vector<Enumerator> few_elements(const std::string& source, const std::string& function,
                                     const std::string& array) {
  const Tokens tokens = lex_cpp(source);
  return FewNumbersReader(tokens).read_elements(function, array);
}

}  // namespace kernelpro
