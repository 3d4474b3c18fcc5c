#include "coordinator/app/own_braces.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "coordinator/report/diff.hpp"

namespace kernelpro {
namespace {

// Where braces open and close, as places in the tokens.
struct BracePair {
  std::size_t open = 0;
  std::size_t close = 0;
};

class Statements {
 public:
  explicit Statements(const Tokens& tokens) : tokens_(tokens) {}

  // Braces behind for, while, if, else and do that hold one statement.
  [[nodiscard]] std::vector<BracePair> needless_braces() const {
    std::vector<BracePair> out;
    for (std::size_t i = 1; i + 1 < tokens_.size(); ++i) {
      const std::size_t close = is(i, "{") && begins_body(i) ? closing(tokens_, i) : 0;
      const bool whole = close > i + 1 && close < tokens_.size();
      if (whole && end_of(i + 1) == close && !takes_else(i, close)) {
        out.push_back({i, close});
      }
    }
    return out;
  }

 private:
  [[nodiscard]] bool is(std::size_t at, std::string_view text) const {
    return at < tokens_.size() && tokens_[at].directive.empty() && tokens_[at].text == text;
  }

  [[nodiscard]] bool begins_body(std::size_t open) const {
    if (is(open - 1, "else") || is(open - 1, "do")) {
      return true;
    }
    if (!is(open - 1, ")")) {
      return false;
    }
    int depth = 0;
    std::size_t at = open - 1;
    for (;; --at) {
      depth += is(at, ")") ? 1 : 0;
      depth -= is(at, "(") ? 1 : 0;
      if (depth == 0 || at == 0) {
        break;
      }
    }
    at -= at > 1 && is(at - 1, "constexpr") ? 1 : 0;
    return at > 0 && (is(at - 1, "for") || is(at - 1, "while") || is(at - 1, "if"));
  }

  // Without the braces, an `else` behind them would belong to an `if` within.
  [[nodiscard]] bool takes_else(std::size_t open, std::size_t close) const {
    bool asks = false;
    for (std::size_t i = open; i < close; ++i) {
      asks = asks || is(i, "if");
    }
    return asks && is(close + 1, "else");
  }

  // One behind the statement at `at`; nothing where that is not clear.
  [[nodiscard]] std::optional<std::size_t> end_of(std::size_t at) const {
    if (at >= tokens_.size() || !tokens_[at].directive.empty() || is(at, "case") ||
        is(at, "default") || is(at, "try") || is(at, "}")) {
      return {};
    }
    if (is(at, "{")) {
      return closing(tokens_, at) + 1;
    }
    if (is(at, "for") || is(at, "while") || is(at, "switch")) {
      return is(at + 1, "(") ? end_of(closing(tokens_, at + 1) + 1) : std::nullopt;
    }
    if (is(at, "if")) {
      return end_of_if(at + (is(at + 1, "constexpr") ? 2 : 1));
    }
    return is(at, "do") ? end_of_do(at) : end_of_plain(at);
  }

  [[nodiscard]] std::optional<std::size_t> end_of_if(std::size_t open) const {
    const auto end = is(open, "(") ? end_of(closing(tokens_, open) + 1) : std::nullopt;
    return end && is(*end, "else") ? end_of(*end + 1) : end;
  }

  [[nodiscard]] std::optional<std::size_t> end_of_do(std::size_t at) const {
    const auto end = end_of(at + 1);
    return end && is(*end, "while") ? end_of_plain(*end) : std::nullopt;
  }

  // Up to its semicolon.
  [[nodiscard]] std::optional<std::size_t> end_of_plain(std::size_t at) const {
    for (; at < tokens_.size() && tokens_[at].directive.empty() && !is(at, "}"); ++at) {
      if (is(at, ";")) {
        return at + 1;
      }
      if (is(at, "(") || is(at, "[") || is(at, "{")) {
        at = closing(tokens_, at);
      }
    }
    return {};
  }

  const Tokens& tokens_;
};

// The tokens without such braces, and where each of those left stands among all.
struct Bare {
  std::vector<std::string> texts;
  std::vector<std::size_t> places;
};

Bare without(const Tokens& tokens, const std::vector<BracePair>& pairs) {
  std::vector<bool> brace(tokens.size(), false);
  for (const BracePair& pair : pairs) {
    brace[pair.open] = brace[pair.close] = true;
  }
  const std::vector<std::string> texts = told_apart(tokens);
  Bare out;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!brace[i]) {
      out.texts.push_back(texts[i]);
      out.places.push_back(i);
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> told_apart(const Tokens& tokens) {
  std::vector<std::string> texts(tokens.size());
  std::ranges::transform(tokens, texts.begin(),
                         [](const Token& token) { return token.directive + " " + token.text; });
  return texts;
}

std::string without_new_braces(const std::string& original, const std::string& rewritten) {
  const Tokens before = lex_cpp(original);
  const Tokens after = lex_cpp(rewritten);
  const std::vector<BracePair> pairs = Statements(after).needless_braces();
  const Bare old_bare = without(before, Statements(before).needless_braces());
  const Bare new_bare = without(after, pairs);
  std::map<std::size_t, std::size_t> kept;  // by place in `after`: the place in `before`
  const std::vector<std::string_view> old_texts(old_bare.texts.begin(), old_bare.texts.end());
  const std::vector<std::string_view> new_texts(new_bare.texts.begin(), new_bare.texts.end());
  for (const DiffStep& step : diff_steps(old_texts, new_texts)) {
    if (step.sign == ' ') {
      kept[new_bare.places[step.after]] = old_bare.places[step.before];
    }
  }
  std::vector<bool> is_brace(after.size(), false);
  for (const BracePair& pair : pairs) {
    is_brace[pair.open] = is_brace[pair.close] = true;
  }
  std::vector<Edit> edits;
  for (const BracePair& pair : pairs) {
    std::size_t first = pair.open;
    std::size_t last = pair.close;
    while (is_brace[first]) {
      ++first;
    }
    while (is_brace[last]) {
      --last;
    }
    const auto from = kept.find(first);
    const auto to = kept.find(last);
    const bool bare = from != kept.end() && to != kept.end() && from->second > 0 &&
                      before[from->second - 1].text == after[pair.open - 1].text;
    if (bare) {
      edits.push_back({after[pair.open].offset, 1, ""});
      edits.push_back({after[pair.close].offset, 1, ""});
    }
  }
  std::ranges::sort(edits, {}, &Edit::offset);
  return apply_edits(rewritten, edits);
}

}  // namespace kernelpro
