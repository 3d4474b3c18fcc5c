#include "coordinator/task/lexer.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "common/base/cpp_text.hpp"
#include "common/base/text.hpp"

namespace kernelpro {
namespace {

bool is_word_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

class Lexer {
 public:
  explicit Lexer(const std::string& source) : source_(source) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) {
      if (!skip_blank() && !skip_comment()) {
        take_token();
      }
    }
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  void advance_to(std::size_t end) {
    end = std::min(end, source_.size());
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end;
  }

  bool skip_blank() {
    if (peek() == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      advance_to(source_.find('\n', at_) + 1);
      return true;
    }
    if (peek() == '\n') {
      directive_.clear();
      line_has_tokens_ = false;
    }
    if (std::isspace(static_cast<unsigned char>(peek())) == 0) {
      return false;
    }
    advance_to(at_ + 1);
    return true;
  }

  bool skip_comment() {
    const bool comment = peek() == '/' && (peek(1) == '/' || peek(1) == '*');
    advance_to(comment ? behind_quoted(source_, at_) : at_);
    return comment;
  }

  void push(Token::Kind kind, std::size_t end) {
    end = std::min(end, source_.size());
    tokens_.push_back({kind, source_.substr(at_, end - at_), at_, line_, directive_});
    line_has_tokens_ = true;
    advance_to(end);
  }

  void take_token() {
    if (peek() == '#' && !line_has_tokens_) {
      std::size_t word = at_ + 1;
      while (word < source_.size() && (source_[word] == ' ' || source_[word] == '\t')) {
        ++word;
      }
      directive_ = source_.substr(word, word_end(word) - word);
      push(Token::Kind::punctuation, at_ + 1);
    } else if (is_word_start(peek())) {
      const std::size_t end = word_end(at_);
      if (end < source_.size() && source_[end] == '"' && is_raw_prefix(end)) {
        push(Token::Kind::text, behind_quoted(source_, end - 1));
      } else {
        push(Token::Kind::word, end);
      }
    } else if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) {
      push(Token::Kind::number, number_end());
    } else if (peek() == '"' || peek() == '\'') {
      push(Token::Kind::text, std::max(behind_quoted(source_, at_), at_ + 1));
    } else if ((peek() == ':' && peek(1) == ':') || (peek() == '-' && peek(1) == '>')) {
      push(Token::Kind::punctuation, at_ + 2);
    } else {
      push(Token::Kind::punctuation, at_ + 1);
    }
  }

  [[nodiscard]] std::size_t word_end(std::size_t end) const {
    while (end < source_.size() && is_word(source_[end])) {
      ++end;
    }
    return end;
  }

  [[nodiscard]] bool is_raw_prefix(std::size_t end) const {
    static constexpr std::array<std::string_view, 5> prefixes = {"R", "u8R", "uR", "UR", "LR"};
    const std::string_view word = std::string_view(source_).substr(at_, end - at_);
    return std::ranges::find(prefixes, word) != prefixes.end();
  }

  [[nodiscard]] std::size_t number_end() const {
    std::size_t end = at_ + 1;
    while (end < source_.size()) {
      const char last = source_[end - 1];
      const bool exponent = last == 'e' || last == 'E' || last == 'p' || last == 'P';
      const bool sign = exponent && !is_hex_e(last) && (source_[end] == '+' || source_[end] == '-');
      const bool separator =
          source_[end] == '\'' && end + 1 < source_.size() && is_word(source_[end + 1]);
      if (!is_word(source_[end]) && source_[end] != '.' && !sign && !separator) {
        break;
      }
      ++end;
    }
    return end;
  }

  // In 0x1e+2 the e is a digit and the sign an operator.
  [[nodiscard]] bool is_hex_e(char last) const {
    return (last == 'e' || last == 'E') && peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
  }

  const std::string& source_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_has_tokens_ = false;
  std::string directive_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> lex_cpp(const std::string& source) {
  return Lexer(source).run();
}

std::string apply_edits(const std::string& source, const std::vector<Edit>& edits) {
  std::string result;
  std::size_t copied = 0;
  for (const Edit& edit : edits) {
    result += source.substr(copied, edit.offset - copied) + edit.text;
    copied = edit.offset + edit.length;
  }
  return result + source.substr(copied);
}

}  // namespace kernelpro
