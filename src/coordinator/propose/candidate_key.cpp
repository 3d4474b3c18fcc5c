#include "coordinator/propose/candidate_key.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "common/base/hash.hpp"
#include "common/base/text.hpp"
#include "common/model/tunables.hpp"

namespace kernelpro {

namespace {

// Whether two characters side by side could be one token: "int x", "a - -b".
bool would_join(char left, char right) {
  constexpr std::string_view operators = "+-*/%&|^<>=!:.";
  const auto joins = [operators](char c) { return operators.find(c) != std::string_view::npos; };
  return (is_word(left) && is_word(right)) || (joins(left) && joins(right));
}

// Copies a source piece by piece, leaving out what does not matter.
class Normalizer {
 public:
  explicit Normalizer(const std::string& source) : source_(source) {}

  std::string run() {
    while (at_ < source_.size()) {
      if (starts("//")) {
        at_ = std::min(source_.find('\n', at_), source_.size());
      } else if (starts("/*")) {
        const std::size_t end = source_.find("*/", at_ + 2);
        at_ = end == std::string::npos ? source_.size() : end + 2;
        blank_ = true;
      } else if (source_[at_] == '"' || (source_[at_] == '\'' && !after_digit())) {
        copy_literal();
      } else if (std::isspace(static_cast<unsigned char>(source_[at_])) != 0) {
        skip_space();
      } else {
        copy(source_[at_++]);
      }
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool starts(const char* text) const { return source_.compare(at_, 2, text) == 0; }

  // 120'000: the quote separates digits.
  [[nodiscard]] bool after_digit() const {
    return at_ > 0 && std::isalnum(static_cast<unsigned char>(source_[at_ - 1])) != 0 &&
           at_ + 1 < source_.size() &&
           std::isalnum(static_cast<unsigned char>(source_[at_ + 1])) != 0;
  }

  void skip_space() {
    if (source_[at_] == '\n' && directive_) {
      copy_line_end();
    }
    blank_ = true;
    ++at_;
  }

  void copy_line_end() {
    out_ += '\n';
    directive_ = false;
  }

  void copy(char c) {
    if (c == '#' && (out_.empty() || out_.back() == '\n' || starts_line())) {
      if (!out_.empty() && out_.back() != '\n') {
        out_ += '\n';
      }
      directive_ = true;
    }
    if (blank_ && !out_.empty() && would_join(out_.back(), c)) {
      out_ += ' ';
    }
    blank_ = false;
    out_ += c;
  }

  // Whether only blanks stand before this place in its line.
  [[nodiscard]] bool starts_line() const {
    const std::size_t before = source_.find_last_not_of(" \t", at_ >= 2 ? at_ - 2 : 0);
    return at_ < 2 || before == std::string::npos || source_[before] == '\n';
  }

  void copy_literal() {
    const char quote = source_[at_];
    copy(quote);
    for (++at_; at_ < source_.size() && source_[at_] != quote; ++at_) {
      out_ += source_[at_];
      if (source_[at_] == '\\' && at_ + 1 < source_.size()) {
        out_ += source_[++at_];
      }
    }
    if (at_ < source_.size()) {
      out_ += quote;
      ++at_;
    }
  }

  const std::string& source_;
  std::size_t at_ = 0;
  bool blank_ = false;
  bool directive_ = false;
  std::string out_;
};

// The order of options rarely matters, and moves add them in any order. "-mllvm" stays with what
// follows it.
std::vector<std::string> sorted_options(const std::vector<std::string>& options) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const bool pair = options[i] == "-mllvm" && i + 1 < options.size();
    out.push_back(pair ? options[i] + "=" + options[i + 1] : options[i]);
    i += pair ? 1 : 0;
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

std::string normalized_source(const std::string& source) {
  return Normalizer(source).run();
}

std::string candidate_key(const Candidate& candidate) {
  std::string text = name_of(candidate.backend) + '\n' + candidate.compiler + '\n';
  for (const std::string& option : sorted_options(candidate.options)) {
    text += option + ' ';
  }
  return sha256(text + '\n' + normalized_source(candidate.source));
}

std::string sweep_key(const Candidate& candidate) {
  Candidate other = candidate;
  std::map<std::string, std::int64_t> first;
  if (const Result<std::vector<Tunable>> tunables = parse_tunables(candidate.source)) {
    for (const Tunable& one : *tunables) {
      first[one.name] = one.values.front();
    }
  }
  if (Result<std::string> source = set_tunables(candidate.source, first)) {
    other.source = std::move(*source);
  }
  return "sweep " + candidate_key(other);
}

}  // namespace kernelpro
