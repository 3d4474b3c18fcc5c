#include "coordinator/task/real_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include "coordinator/task/lexer.hpp"

namespace kernelpro {
namespace {

const std::set<std::string>& math_functions() {
  static const std::set<std::string> names = {
      "abs",  "acos",     "acosh", "asin", "asinh",  "atan", "atan2", "atanh",     "cbrt",
      "ceil", "copysign", "cos",   "cosh", "erf",    "erfc", "exp",   "exp2",      "expm1",
      "fabs", "fdim",     "floor", "fma",  "fmax",   "fmin", "fmod",  "hypot",     "lgamma",
      "log",  "log10",    "log1p", "log2", "pow",    "rint", "round", "nearbyint", "sin",
      "sinh", "sqrt",     "tan",   "tanh", "tgamma", "trunc"};
  return names;
}

// The overloaded name of a math function: "exp" for exp, expf and expl; empty for other words.
std::string overload_name(const std::string& word) {
  if (math_functions().contains(word)) {
    return word;
  }
  const std::string base = word.substr(0, word.size() - 1);
  const bool suffixed = word.back() == 'f' || word.back() == 'l';
  return suffixed && math_functions().contains(base) ? base : "";
}

bool is_floating_literal(const Token& token) {
  const std::string& number = token.text;
  const bool hexadecimal = number.size() > 1 && (number[1] == 'x' || number[1] == 'X');
  const bool fraction = number.find('.') != std::string::npos;
  const bool exponent = number.find_first_of(hexadecimal ? "pP" : "eE") != std::string::npos;
  return token.kind == Token::Kind::number && (fraction || exponent);
}

class Rewriter {
 public:
  explicit Rewriter(const std::string& source) : source_(source), tokens_(lex_cpp(source)) {}

  std::string run() {
    while (at_ < tokens_.size()) {
      const Token& token = tokens_[at_];
      if (token.directive == "pragma") {
        rewrite_pragma();
      } else if (token.directive != "include" && is_floating_literal(token)) {
        replace(1, fmt::format("Real({})", token.text));
      } else if (token.directive != "include" &&
                 (token.kind == Token::Kind::word || token.text == "::")) {
        rewrite_word();
      } else {
        ++at_;
      }
    }
    std::string head = "#include <cmath>\n#include <cstdint>\n#include <cstdlib>\n\n";
    for (const std::string& name : used_) {
      head += fmt::format("using std::{};\n", name);
    }
    return head + (used_.empty() ? "" : "\n") + apply_edits(source_, edits_);
  }

 private:
  [[nodiscard]] std::string text(std::size_t index) const {
    return index < tokens_.size() ? tokens_[index].text : "";
  }

  // Replaces `count` tokens with what lies between them.
  void replace(std::size_t count, const std::string& with) {
    const Token& first = tokens_[at_];
    const Token& last = tokens_[at_ + count - 1];
    edits_.push_back({first.offset, last.offset + last.text.size() - first.offset, with});
    at_ += count;
  }

  void rewrite_pragma() {
    std::size_t count = 1;
    while (at_ + count < tokens_.size() && tokens_[at_ + count].directive == "pragma" &&
           text(at_ + count) != "#") {
      ++count;
    }
    if (text(at_ + 2) == "omp") {
      replace(count, "");
    } else {
      at_ += count;
    }
  }

  void rewrite_word() {
    const std::string word = text(at_);
    const std::string next = text(at_ + 1);
    const std::string previous = at_ > 0 ? text(at_ - 1) : "";
    if (word == "float" || word == "double") {
      replace(1, "Real");
    } else if (word == "long" && next == "double") {
      replace(2, "Real");
    } else if (word == "long" && next == "long" && previous != "unsigned" &&
               text(at_ + 2) != "unsigned") {
      // Integer tensors arrive as std::int64_t, which is another type than long long.
      replace(text(at_ + 2) == "int" ? 3 : 2, "std::int64_t");
    } else if (word == "restrict") {
      replace(1, "__restrict__");
    } else if (previous == "." || previous == "->" || previous == "::" || !rewrite_math()) {
      ++at_;
    }
  }

  // `expf(`, `std::exp(` and `::exp(` become `exp(`.
  bool rewrite_math() {
    std::size_t qualifiers = text(at_) == "::" ? 1 : 0;
    if (text(at_) == "std" && text(at_ + 1) == "::") {
      qualifiers = 2;
    }
    const bool foreign_scope =
        qualifiers == 1 && at_ > 0 && tokens_[at_ - 1].kind == Token::Kind::word;
    const std::size_t name = at_ + qualifiers;
    if (foreign_scope || name >= tokens_.size() || tokens_[name].kind != Token::Kind::word ||
        text(name + 1) != "(") {
      return false;
    }
    const std::string overload = overload_name(text(name));
    if (overload.empty()) {
      return false;
    }
    used_.insert(overload);
    replace(qualifiers + 1, overload);
    return true;
  }

  const std::string& source_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::vector<Edit> edits_;
  std::set<std::string> used_;
};

bool is_intrinsics_header(const std::string& word) {
  static const std::set<std::string> headers = {"immintrin", "x86intrin", "xmmintrin", "emmintrin",
                                                "arm_neon",  "arm_sve",   "smmintrin", "avxintrin"};
  return headers.contains(word);
}

}  // namespace

Result<std::string> to_real(const std::string& source, const std::string& file) {
  const std::vector<Token> tokens = lex_cpp(source);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string next = i + 1 < tokens.size() ? tokens[i + 1].text : "";
    const std::string place = fmt::format("{}:{}", file, tokens[i].line);
    if (tokens[i].directive == "include" && is_intrinsics_header(tokens[i].text)) {
      return make_error(
          ErrorKind::bad_input,
          fmt::format("<{}.h>: the reference runs in double, and vector intrinsics "
                      "have a fixed type; make the task from a plain loop and judge "
                      "this version as a candidate, or trust it as it is (--reference "
                      "original)",
                      tokens[i].text),
          place);
    }
    if (tokens[i].directive.empty() && tokens[i].text == "main" && next == "(") {
      return make_error(ErrorKind::bad_input,
                        "this file defines main(), and the task needs the function alone; move the "
                        "function to a file of its own",
                        place);
    }
  }
  return Rewriter(source).run();
}

}  // namespace kernelpro
